"""What Luthier's own metadata asks for, against what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from luthier.doctor.packages import packages

METADATA = """Metadata-Version: 2.4
Name: luthier
Version: 0.1.0
Provides-Extra: tune
Provides-Extra: old
Provides-Extra: later
Provides-Extra: dev
Requires-Dist: numpy>=1.26
Requires-Dist: no-such-package>=3
Requires-Dist: pytest>=8; extra == "tune"
Requires-Dist: no-such-searcher<6,>=4.5; extra == "tune"
Requires-Dist: numpy<1; extra == "old"
Requires-Dist: numpy; python_version < "3" and extra == "later"
Requires-Dist: luthier[tune]; extra == "dev"
Requires-Dist: mypy; extra == "dev"
"""


def test_each_package_stands_with_whoever_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "luthier-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = packages()
    assert [(package.extra, package.name, package.version is not None, package.fits) for package in found] == [
        (None, "numpy", True, True),
        (None, "no-such-package", False, False),
        ("tune", "pytest", True, True),
        ("tune", "no-such-searcher", False, False),
        ("old", "numpy", True, False),
    ]
    assert [package.install for package in found if package.version is None] == [
        "pip install 'no-such-package>=3'",
        "pip install 'luthier[tune]'",
    ]
