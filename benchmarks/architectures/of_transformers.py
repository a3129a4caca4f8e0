"""Families of transformers, small: each function gives a network with random weights and plain tensors out."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures import declared  # noqa: F401 - before transformers, which loads torchvision

# isort: split
import transformers
from torch import Tensor, nn

SMALL: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 64,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
DECODER: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "max_position_embeddings": 64,
    "use_cache": False,
}


class Plain(nn.Module):
    """The first output, by itself."""

    def __init__(self, net: nn.Module, argument: str = "input_ids") -> None:
        super().__init__()
        self.net, self.argument = net, argument

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.net(**{self.argument: x}, return_dict=False)[0]
        return found


def made(kind: str, argument: str = "input_ids", **options: Any) -> nn.Module:
    config = getattr(transformers, f"{kind}Config")(attn_implementation="eager", **options)
    return Plain(getattr(transformers, f"{kind}Model")(config), argument)


def bert() -> nn.Module:
    return made("Bert", **SMALL)


def roberta() -> nn.Module:
    return made("Roberta", **SMALL, pad_token_id=1)


def electra() -> nn.Module:
    return made("Electra", **SMALL, embedding_size=32)


def albert() -> nn.Module:
    return made("Albert", **SMALL, embedding_size=32)


def distilbert() -> nn.Module:
    return made("DistilBert", vocab_size=97, dim=48, n_layers=2, n_heads=4, hidden_dim=96, dropout=0.0)


def gpt2() -> nn.Module:
    options: dict[str, Any] = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "use_cache": False}
    return made("GPT2", vocab_size=97, n_embd=48, n_layer=2, n_head=4, n_positions=64, **options)


def opt() -> nn.Module:
    return made(
        "OPT",
        vocab_size=97,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=96,
        word_embed_proj_dim=48,
        max_position_embeddings=64,
        dropout=0.0,
        use_cache=False,
    )


def llama() -> nn.Module:
    return made("Llama", **DECODER)


def mistral() -> nn.Module:
    return made("Mistral", **DECODER)


def qwen2() -> nn.Module:
    return made("Qwen2", **DECODER)


def gpt_neox() -> nn.Module:
    options = {name: value for name, value in DECODER.items() if name != "num_key_value_heads"}
    return made("GPTNeoX", **options)


def vit_encoder() -> nn.Module:
    options = {name: value for name, value in SMALL.items() if name not in ("vocab_size", "max_position_embeddings")}
    return made("ViT", "pixel_values", image_size=32, patch_size=8, **options)


def segformer() -> nn.Module:
    return made(
        "Segformer",
        "pixel_values",
        depths=[1, 1, 1, 1],
        hidden_sizes=[8, 16, 24, 32],
        drop_path_rate=0.0,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
