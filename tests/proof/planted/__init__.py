"""Ports with one fault each, for the measurement of the proof itself."""

from tests.proof.planted.fault import Fault, Sound
from tests.proof.planted.layers import LAYER_FAULTS
from tests.proof.planted.sound import SOUND
from tests.proof.planted.structures import STRUCTURE_FAULTS
from tests.proof.planted.trainings import TRAINING_FAULTS

FAULTS: list[Fault] = [*STRUCTURE_FAULTS, *LAYER_FAULTS, *TRAINING_FAULTS]

__all__ = ["FAULTS", "SOUND", "Fault", "Sound"]
