"""`python -m luthier`, which launchers of several ranks need."""

from luthier.cli import main

main()
