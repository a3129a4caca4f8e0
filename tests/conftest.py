"""Whatever else runs on the machine: threads sleep while they wait, and no run says so on its own."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
