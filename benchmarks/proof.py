"""The measurement of the proof itself: every planted fault must be found and named, and no sound port may fail.

`python -m benchmarks.proof` prints both, and writes docs/faults.json, from which the manual makes its table.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from luthier.proof import prove

RESULT = Path(__file__).resolve().parent.parent / "docs" / "faults.json"


def main() -> int:
    from tests.proof.planted import FAULTS, SOUND

    found = []
    for fault in FAULTS:
        verdict = prove(fault.reference, fault.candidate, fault.inputs, **fault.options)
        first = verdict.first
        named = first is not None and (first.rung, first.layer) == (fault.rung, fault.layer)
        trap = first.causes[0].trap if first is not None and first.causes else ""
        found.append(
            {
                "name": fault.name,
                "row": fault.row,
                "found": not verdict.proven,
                "rung": first.rung if first else "",
                "layer": first.layer if first else "",
                "named": named,
                "trap": trap,
                "as expected": fault.trap is None or trap == fault.trap,
            }
        )
        print(f"{'found' if named else 'MISSED'}  {fault.name}: {found[-1]['rung']}, {trap or '–'}", flush=True)
    alarms = []
    for sound in SOUND:
        began = perf_counter()
        verdict = prove(sound.reference, sound.candidate, sound.inputs, **sound.options)
        if not verdict.proven:
            alarms.append(sound.name)
        told = "passed" if verdict.proven else "ALARM"
        print(f"{told}  {sound.name} ({perf_counter() - began:.1f} s)", flush=True)
    result = {"faults": found, "sound": [sound.name for sound in SOUND], "alarms": alarms}
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    missed = [item["name"] for item in found if not item["named"]]
    print(
        f"{len(found) - len(missed)} of {len(found)} faults found and named, {len(alarms)} alarms in {len(SOUND)} ports"
    )
    return 1 if missed or alarms else 0


if __name__ == "__main__":
    sys.exit(main())
