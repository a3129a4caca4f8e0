"""Contracts as test classes: whoever adds an engine derives from one, and runs what every other engine passes."""

from luthier.testing.batches import random_batches
from luthier.testing.searcher_contract import SearcherContract
from luthier.testing.session_contract import SessionContract

__all__ = ["SearcherContract", "SessionContract", "random_batches"]
