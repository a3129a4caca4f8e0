"""The recipe's optimizers on PyTorch's own fused ones, and their state under the names that both engines share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from luthier.engines.torch.muon import Muon
from luthier.recipe import Adam, AdamW, Momentum, Nesterov, Optimizer, Sgd
from luthier.recipe import Muon as MuonRecord
from luthier.strategy import Group

__all__ = ["build_optimizers", "load_slots", "slots_of"]

SLOTS = {"momentum_buffer": "momentum", "exp_avg": "moment1", "exp_avg_sq": "moment2", "step": "step"}
Parameters = Mapping[str, nn.Parameter]
ParamGroups = list[dict[str, Any]]


def build_optimizers(record: Optimizer, groups: Sequence[Group], parameters: Parameters) -> list[torch.optim.Optimizer]:
    """One optimizer, or for Muon two; each parameter group keeps its factor on the learning rate beside it."""
    params = [
        {"params": [parameters[name] for name in group.names], "weight_decay": group.weight_decay}
        | {"factor": group.learning_rate}
        for group in groups
    ]
    optimizers = _muon(record, params) if isinstance(record, MuonRecord) else [_of_kind(record, params)]
    for optimizer in optimizers:
        for parameter in (parameter for group in optimizer.param_groups for parameter in group["params"]):
            optimizer.state[parameter] = _fresh_slots(optimizer, parameter)
    return optimizers


def _of_kind(record: Sgd | Momentum | Nesterov | Adam | AdamW, params: ParamGroups) -> torch.optim.Optimizer:
    match record:
        case Sgd():
            return torch.optim.SGD(params, lr=0.0, fused=True)
        case Momentum():
            return torch.optim.SGD(params, lr=0.0, momentum=record.momentum, fused=True)
        case Nesterov():
            return torch.optim.SGD(params, lr=0.0, momentum=record.momentum, nesterov=record.momentum > 0, fused=True)
        case Adam():
            return torch.optim.Adam(params, lr=0.0, betas=(record.beta1, record.beta2), eps=record.epsilon, fused=True)
        case AdamW():
            return torch.optim.AdamW(params, lr=0.0, betas=(record.beta1, record.beta2), eps=record.epsilon, fused=True)


def _muon(record: MuonRecord, params: ParamGroups) -> list[torch.optim.Optimizer]:
    """Muon for matrices and filters, AdamW for vectors; a network of one sort alone has one optimizer."""
    matrices = [group | {"params": [p for p in group["params"] if p.ndim >= 2]} for group in params]
    vectors = [
        group
        | {
            "params": [p for p in group["params"] if p.ndim < 2],
            "factor": group["factor"] * record.others_learning_rate,
        }
        for group in params
    ]
    matrices, vectors = ([group for group in part if group["params"]] for part in (matrices, vectors))
    steps = record.newton_schulz_steps
    muon = (
        [Muon(matrices, momentum=record.momentum, nesterov=record.nesterov, num_iterations=steps)] if matrices else []
    )
    adamw = AdamW(beta1=record.beta1, beta2=record.beta2, epsilon=record.epsilon)
    return [*muon, *([_of_kind(adamw, vectors)] if vectors else [])]


def _fresh_slots(optimizer: torch.optim.Optimizer, parameter: nn.Parameter) -> dict[str, Tensor]:
    """Zeros from the start, not from the first step on: a state is then whole at any time."""
    if isinstance(optimizer, torch.optim.Adam):  # AdamW is one
        step = torch.tensor(0.0, device=parameter.device)
        return {"step": step, "exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
    plain = isinstance(optimizer, torch.optim.SGD) and not optimizer.defaults["momentum"]
    return {} if plain else {"momentum_buffer": torch.zeros_like(parameter)}


def slots_of(optimizers: Sequence[torch.optim.Optimizer], parameters: Parameters) -> dict[str, Tensor]:
    """`<slot>/<parameter>` to tensor."""
    return {f"{SLOTS[slot]}/{name}": value for name, slot, value in _slots(optimizers, parameters)}


def load_slots(
    optimizers: Sequence[torch.optim.Optimizer], parameters: Parameters, slots: Mapping[str, Tensor]
) -> None:
    """Put the slots back where they were."""
    for name, slot, value in _slots(optimizers, parameters):
        value.copy_(slots[f"{SLOTS[slot]}/{name}"])


def _slots(optimizers: Sequence[torch.optim.Optimizer], parameters: Parameters) -> Iterator[tuple[str, str, Tensor]]:
    for name, parameter in parameters.items():
        for optimizer in optimizers:
            for slot, value in optimizer.state.get(parameter, {}).items():
                yield name, slot, value
