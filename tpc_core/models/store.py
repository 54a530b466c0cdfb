"""Checkpoints on disk: NAME.safetensors with its NAME.json card, and the Model made from the two."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, TpcError, UnknownName, one_line, unknown_name
from tpc_core.lazy_torch import torch
from tpc_core.models.card import ModelCard, read_card
from tpc_core.models.precision import FULL, REDUCED, split_precision, with_precision
from tpc_core.models.tasks import Task
from tpc_core.shipped import shipped
from tpc_core.smoothing import Smoothing, smoothing_from_json

if TYPE_CHECKING:
    from torch import Tensor, nn

MAX_WEIGHTS_BYTES = 2 << 30
CHECKPOINTS = shipped("checkpoints")


@dataclass(frozen=True, eq=False)
class Model:
    """A trained base classifier h with the smoothing that it was trained for.

    `module` is the eager reference in eval mode; `classifier()` is the fast path to the same logits, unless the model
    is a variant of reduced precision, which is another classifier.
    """

    card: ModelCard
    module: nn.Module = field(repr=False)
    precision: str = FULL

    @property
    def name(self) -> str:
        return with_precision(self.card.name, self.precision)

    @property
    def classes(self) -> list[str]:
        return self.card.classes

    @property
    def task(self) -> Task:
        return self.card.task

    @property
    def num_points(self) -> int | None:
        """The size of cloud that it was trained for; it accepts any."""
        return self.card.num_points

    @property
    def digest(self) -> str:
        """What identifies the function h: the sha256 of the weights together with the architecture."""
        return digest_of(self.card, self.precision)

    @cached_property
    def smoothing(self) -> Smoothing:
        return smoothing_from_json(self.card.smoothing)

    def classifier(self, device: str | torch.device = "cpu") -> Callable[[Tensor], Tensor]:
        """The fast inference path on a device: (B, N, 3) float32 -> logits (B, C), or (B, N, P) for parts."""
        from tpc_core.models.folded import fast_path
        from tpc_core.models.reduced import Reduced

        module = self.module.to(device)
        return fast_path(module) if self.precision == FULL else Reduced(module, self.precision)


def digest_of(card: ModelCard, precision: str = FULL) -> str:
    """The digest of the model that a card describes, without its weights: the card has their sha256."""
    parts = [card.architecture, card.options, card.sha256]
    if precision != FULL:
        parts.append(precision)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def load_by_digest(digest: str, name: str) -> Model:
    """The shipped checkpoint with this digest. `name` is what somebody's file calls it: it is shown, never opened."""
    for card in list_models():
        for precision in (FULL, *REDUCED):
            if digest_of(card, precision) == digest:
                return load_model(with_precision(card.name, precision))
    raise UnknownName(
        f"no checkpoint here has the digest {one_line(digest, 12)} of {one_line(name, 80)!r}; give yours with --model"
    )


def load_model(name_or_path: str) -> Model:
    """A shipped checkpoint by name, or any checkpoint by the path of its .safetensors file.

    NAME@bfloat16 and NAME@float16 are its variants of reduced precision.
    """
    checkpoint, precision = split_precision(name_or_path)
    weights = _known_weights(checkpoint)
    card = read_card(weights.with_suffix(".json"))
    data = read_bytes(weights, MAX_WEIGHTS_BYTES)
    found = hashlib.sha256(data).hexdigest()
    if found != card.sha256:
        raise InvalidFile(
            f"{weights} is not the file its card describes: its sha256 is {found[:12]}..., "
            f"the card says {card.sha256[:12]}..."
        )
    module = _described(card, len(data), str(weights))
    load_weights(module, data, str(weights))
    return Model(_card_of_variant(card, precision), module.eval().requires_grad_(False), precision)


def _card_of_variant(card: ModelCard, precision: str) -> ModelCard:
    """What was measured of the full network was not measured of a variant."""
    if precision == FULL:
        return card
    return card.model_copy(update={"held_aside": None, "clean_accuracy": None, "certified_accuracy": None})


def _described(card: ModelCard, size: int, source: str) -> nn.Module:
    """The network that a card describes, provided that its weights can be in a file of this size.

    It is drawn up without memory first: a card may ask for layers that no machine holds.
    """
    from tpc_core.models.architectures import build

    try:
        with torch.device("meta"):
            outline = build(card.architecture, classes=len(card.classes), **card.options)
    except TpcError:
        raise
    except Exception as error:  # options of wrong types fail wherever they are used first
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidFile(f"the card of {source} describes no network: {reason}") from error
    weights = sum(tensor.numel() for tensor in outline.state_dict().values())
    if weights > size:
        raise InvalidFile(
            f"the weights in {source} do not fit: the card speaks of {weights:,}, the file has {size:,} bytes"
        )
    return build(card.architecture, classes=len(card.classes), **card.options)


def load_weights(module: nn.Module, data: bytes, source: str) -> None:
    """Put the tensors of a safetensors file into a module, as float32."""
    import safetensors
    from safetensors.torch import load as load_tensors

    try:
        tensors = {
            name: tensor.float() if tensor.is_floating_point() else tensor
            for name, tensor in load_tensors(data).items()
        }
        module.load_state_dict(tensors)
    except (safetensors.SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise InvalidFile(f"the weights in {source} do not fit: {reason}") from error
    check_finite(tensors, source)


def check_finite(tensors: dict[str, Tensor], source: str) -> None:
    """A network with one NaN in it answers the same class to everything, and would be certified for it."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise InvalidFile(f"{source}: the weight {name} holds NaN or infinity")


def list_models() -> list[ModelCard]:
    """The cards of all shipped checkpoints, by name."""
    return [
        read_card(path)
        for path in sorted(CHECKPOINTS.glob("*.json"))
        if path.with_suffix(".safetensors").exists()
    ]


def load_card(name: str) -> ModelCard:
    """The card of a shipped checkpoint, without its weights."""
    checkpoint, precision = split_precision(name)
    return _card_of_variant(read_card(_known_weights(checkpoint).with_suffix(".json")), precision)


def encode_weights(tensors: dict[str, Tensor]) -> bytes:
    """A safetensors file with every weight as float16; counters of batches are left as they are.

    Running variances below what float16 resolves would become zero; BatchNorm's own eps covers them.
    """
    from safetensors.torch import save as save_tensors

    half = {
        name: (tensor.to(torch.float16) if tensor.is_floating_point() else tensor).contiguous()
        for name, tensor in tensors.items()
    }
    for name, tensor in half.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise InvalidFile(f"the weight {name} does not fit into float16")
    return bytes(save_tensors(half))


def weights_path(name_or_path: str) -> Path:
    """Where the weights of a model lie, or would lie: by the path given, or among the shipped ones by name."""
    checkpoint, _ = split_precision(name_or_path)
    given = Path(checkpoint)
    return given if given.suffix == ".safetensors" else CHECKPOINTS / f"{checkpoint}.safetensors"


def _known_weights(name_or_path: str) -> Path:
    """The same, for a path or for the name of a checkpoint that is there."""
    shipped = {path.stem for path in CHECKPOINTS.glob("*.safetensors")}
    if Path(name_or_path).suffix != ".safetensors" and name_or_path not in shipped:
        raise unknown_name("model", name_or_path, sorted(shipped))
    return weights_path(name_or_path)
