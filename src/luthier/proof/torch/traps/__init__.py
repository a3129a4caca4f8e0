"""Traps that are built into the reference's own functions: the one that gives the candidate's numbers is the cause."""

from luthier.proof.torch.traps import activations, attention, convolutions, normalisations, pooling, shapes

__all__ = ["activations", "attention", "convolutions", "normalisations", "pooling", "shapes"]
