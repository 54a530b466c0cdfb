"""Models on disk: NAME.safetensors with its NAME.json card, shipped or the user's own, and the Model of the two."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue, TpcError, UnknownName, one_line, unknown_name
from tpc_core.lazy_torch import torch
from tpc_core.machinery.user_folder import user_folder
from tpc_core.models.card import ModelCard, read_card
from tpc_core.models.precision import FULL_PRECISION, REDUCED, Variant, parse_variant, with_precision
from tpc_core.models.tasks import Task
from tpc_core.shipped import shipped
from tpc_core.smoothing import Smoothing, parse_smoothing, smoothing_from_json

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
    precision: str = FULL_PRECISION
    _mark: bytes = field(init=False, repr=False)
    """Of what the module held when the model was made of it."""

    def __post_init__(self) -> None:
        from tpc_core.models.state import mark_of

        object.__setattr__(self, "_mark", mark_of(self.module))

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

    def check_unchanged(self, *, after_votes: bool = False) -> None:
        """InvalidValue where the module was trained on, set to training mode or otherwise changed: votes and proofs
        would be of another network than the one that the digest names. Votes leave nothing behind in ours.
        """
        from tpc_core.models.state import mark_of

        if after_votes and self.card.brought is None:
            return
        if mark_of(self.module) != self._mark:
            raise InvalidValue(
                f"the network of {self.name} is not the one any more that was loaded under this name: its weights or "
                "settings have changed, or it keeps something from one call to the next; make a model of its own of "
                "it (tpc_core.models.brought.model_of)"
            )

    def classifier(self, device: str | torch.device = "cpu") -> Callable[[Tensor], Tensor]:
        """The fast inference path on a device: (B, N, 3) float32 -> logits (B, C), or (B, N, P) for parts."""
        from tpc_core.models.folded import fast_path
        from tpc_core.models.reduced import Reduced

        module = self.module.to(device)
        return fast_path(module) if self.precision == FULL_PRECISION else Reduced(module, self.precision)


def digest_of(card: ModelCard, precision: str = FULL_PRECISION) -> str:
    """The digest of the model that a card describes, without its weights: the card has their sha256.

    How a brought network is shown its clouds, and the code of its factory, are part of the function that it is.
    """
    parts: list[Any] = [card.architecture, card.options, card.sha256]
    if card.brought is not None:
        parts.append([card.brought.frame.model_dump(), card.brought.code, card.brought.answers])
    if precision != FULL_PRECISION:
        parts.append(precision)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def load_by_digest(digest: str, name: str) -> Model:
    """The model here with this digest. `name` is what somebody's file calls it: it is shown, never opened."""
    for card in list_models():
        for precision in (FULL_PRECISION, *REDUCED):
            if digest_of(card, precision) == digest:
                return load_model(str(Variant(card.name, precision, _smoothing_in(name))))
    raise UnknownName(
        f"no checkpoint here has the digest {one_line(digest, 12)} of {one_line(name, 80)!r}; give yours with --model"
    )


def _smoothing_in(name: str) -> str | None:
    """The smoothing that a name ends with, if it makes sense: it says how votes were cast, and opens nothing."""
    try:
        found = parse_variant(name).smoothing
        if found is not None:
            parse_smoothing(found)
    except TpcError:
        return None
    return found


def load_model(name_or_path: str) -> Model:
    """A model by name, shipped or the user's own, or any checkpoint by the path of its .safetensors file.

    NAME@bfloat16 and NAME@float16 are its variants of reduced precision; NAME@z-twist:20 is the same network under
    another smoothing.
    """
    variant = parse_variant(name_or_path)
    smoothing = None if variant.smoothing is None else parse_smoothing(variant.smoothing)
    model = _load(variant.checkpoint)
    card = card_of_variant(model.card, variant, smoothing)
    return model if card is model.card else Model(card, model.module, variant.precision)


def _load(name_or_path: str) -> Model:
    if name_or_path in users_names():
        from tpc_core.models.brought.library import load_brought

        card = read_card(models_folder() / f"{name_or_path}.json")
        if card.brought is not None:
            return load_brought(_own_name(card, name_or_path), models_folder())
    weights = _known_weights(name_or_path)
    card = read_card(weights.with_suffix(".json"))
    if card.brought is not None:
        # A card is a small text that anyone may send: by its path it must not lead to code, or to other files.
        raise InvalidFile(
            f"{weights} is a brought model; add it with `tpc models add`, and name it without a path"
        )
    data = read_bytes(weights, MAX_WEIGHTS_BYTES)
    found = hashlib.sha256(data).hexdigest()
    if found != card.sha256:
        raise InvalidFile(
            f"{weights} is not the file its card describes: its sha256 is {found[:12]}..., "
            f"the card says {card.sha256[:12]}..."
        )
    return Model(card, built(card, data, str(weights)).requires_grad_(False))


def built(card: ModelCard, data: bytes, source: str) -> nn.Module:
    """The network that a card describes, with the weights of a safetensors file, in eval mode."""
    module = _described(card, len(data), source)
    load_weights(module, data, source)
    return module.eval()


def card_of_variant(card: ModelCard, variant: Variant, smoothing: Smoothing | None) -> ModelCard:
    """What was measured of the full network, under its own smoothing, was not measured of a variant."""
    changed: dict[str, Any] = {}
    if smoothing is not None:
        changed = {
            "name": f"{card.name}@{variant.smoothing}",
            "smoothing": smoothing.to_json(),
            "sigma": None,
        }
    if smoothing is not None or variant.precision != FULL_PRECISION:
        changed |= {"held_aside": None, "clean_accuracy": None, "certified_accuracy": None}
    return card.model_copy(update=changed) if changed else card


def _own_name(card: ModelCard, name: str) -> ModelCard:
    """A card is called as its file is, whatever it says itself."""
    return card if card.name == name else card.model_copy(update={"name": name})


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


def models_folder() -> Path:
    """Where the user's own models are kept: `TPC_MODELS`, or a folder under the user's data."""
    return user_folder("models", "TPC_MODELS")


def shipped_names() -> list[str]:
    """The names of the shipped checkpoints."""
    return sorted(
        path.stem for path in CHECKPOINTS.glob("*.safetensors") if path.with_suffix(".json").exists()
    )


def users_names() -> list[str]:
    """The names of the user's own models."""
    try:
        return sorted(path.stem for path in models_folder().glob("*.json"))
    except OSError:  # a folder that may not be read holds no models for us
        return []


def list_models() -> list[ModelCard]:
    """The cards of all models: the shipped checkpoints by name, then the user's own.

    A damaged card of the user's is left out here, so that the others can be used; `tpc models check` names it.
    """
    cards = [read_card(CHECKPOINTS / f"{name}.json") for name in shipped_names()]
    taken = {card.name for card in cards}
    for name in users_names():
        with contextlib.suppress(TpcError):
            if name not in taken:
                cards.append(_own_name(read_card(models_folder() / f"{name}.json"), name))
    return cards


def load_card(name: str) -> ModelCard:
    """The card of a model, without its weights."""
    variant = parse_variant(name)
    smoothing = None if variant.smoothing is None else parse_smoothing(variant.smoothing)
    weights = _known_weights(variant.checkpoint)
    return card_of_variant(read_card(weights.with_suffix(".json")), variant, smoothing)


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
    """Where the weights of a model lie, or would lie: by the path given, or by name."""
    checkpoint = parse_variant(name_or_path).checkpoint
    given = Path(checkpoint)
    if given.suffix == ".safetensors":
        return given
    folder = models_folder() if checkpoint in users_names() else CHECKPOINTS
    return folder / f"{checkpoint}.safetensors"


def _known_weights(name_or_path: str) -> Path:
    """The same, for a path or for the name of a model that is there."""
    known = [*shipped_names(), *users_names()]
    if Path(name_or_path).suffix != ".safetensors" and name_or_path not in known:
        raise unknown_name("model", name_or_path, known)
    return weights_path(name_or_path)
