"""Which checkpoint fits a transform? By default the one whose certificate reaches farthest."""

from __future__ import annotations

import numpy as np

from tpc_core.errors import TpcError, UnsupportedRequest
from tpc_core.models.card import ModelCard
from tpc_core.models.precision import Variant
from tpc_core.models.store import Model, card_of_variant, list_models, load_model, shipped_names
from tpc_core.smoothing import (
    Cover,
    CylinderSmoothing,
    OneProbability,
    Rule,
    parse_smoothing,
    rule_for,
    smoothing_from_json,
)
from tpc_core.transforms import Composition, Transform

_ANY_CLOUD = np.array([[0.5, 0.0, 0.1], [-0.5, 0.0, -0.1]])


def fitting_models(transform: Transform) -> list[tuple[ModelCard, str | None]]:
    """Every model with None, or with the reason why it cannot certify this transform.

    Those that can come first, the best suited at the top. A network that somebody brought stands there under its own
    smoothing and, as NAME@smoothing, under those that suit the transform.
    """
    cards = [known for card in list_models() for known in (card, *_variants(card, transform))]
    pairs = [(card, _objection(card, transform)) for card in cards]
    fitting = sorted((p for p in pairs if p[1] is None), key=lambda pair: _rank(pair[0], transform, 64))
    return fitting + [pair for pair in pairs if pair[1] is not None]


def model_for(transform: Transform, name: str | None = None, points: int | None = None) -> Model:
    """The named model, or the shipped classifier that suits the transform best."""
    if name is not None:
        return load_model(name)
    shipped = set(shipped_names())
    fitting = [
        card for card, objection in fitting_models(transform) if objection is None and card.name in shipped
    ]
    wanted = points or 64
    fitting = [card for card in fitting if card.task == "classification"]
    if not fitting:
        raise UnsupportedRequest(
            f"no shipped checkpoint can certify {transform.name}; train one, or name one by --model"
        )
    return load_model(min(fitting, key=lambda card: _rank(card, transform, wanted)).name)


def _variants(card: ModelCard, transform: Transform) -> list[ModelCard]:
    """A brought network under the smoothings that suit a transform; shipped ones were trained for their own."""
    if card.brought is None:
        return []
    return [variant for word in _words(transform) if (variant := _suited(card, word, transform)) is not None]


def suited_smoothings(card: ModelCard, transform: Transform) -> list[str]:
    """The smoothings that suit a transform better than a network's own, as words behind its name."""
    return [word for word in _words(transform) if _suited(card, word, transform) is not None]


def _words(transform: Transform) -> tuple[str, ...]:
    sigmas = ",".join("20" if radius.unit == "deg" else "0.1" for radius in transform.radii)
    return f"{transform.name}:{sigmas}", f"group:{transform.name}", "diffusion:15"


def _suited(card: ModelCard, word: str, transform: Transform) -> ModelCard | None:
    try:
        smoothing = parse_smoothing(word)
        rule = rule_for(transform, smoothing, _ANY_CLOUD)
    except TpcError:
        return None
    # Cells can be had by the network's own noise; another smoothing is for what needs one probability.
    if isinstance(rule, Cover) or smoothing == smoothing_from_json(card.smoothing):
        return None
    return card_of_variant(card, Variant(card.name, smoothing=word), smoothing)


def _rank(
    card: ModelCard, transform: Transform, points: int
) -> tuple[bool, bool, bool, bool, int, bool, bool, float, str]:
    smoothing = smoothing_from_json(card.smoothing)
    rule = rule_for(transform, smoothing, _ANY_CLOUD)
    covers = isinstance(rule, Cover)
    exact = transform.name in (card.smoothing.get("transform"), card.smoothing.get("group")) or (
        covers and isinstance(smoothing, CylinderSmoothing) and isinstance(transform, Composition)
    )
    plain = card.architecture == "pointnet"
    sigma = float(card.smoothing.get("sigma", 0.0)) if covers else 0.0
    parts = card.task == "segmentation"
    # More noise vouches for larger cells; a norm is certified best by the model made for it.
    size, brought = card.num_points != points, card.brought is not None
    certain = card.is_for_certainty
    return brought, parts, certain, size, _preference(rule), not exact, not plain, -sigma, card.name


def _preference(rule: Rule) -> int:
    """A top class needs the least, one probability more, and cells the most."""
    return 2 if isinstance(rule, Cover) else 1 if isinstance(rule, OneProbability) else 0


def _objection(card: ModelCard, transform: Transform) -> str | None:
    try:
        rule = rule_for(transform, smoothing_from_json(card.smoothing), _ANY_CLOUD)
    except UnsupportedRequest as error:
        return str(error)
    if isinstance(rule, Cover) and card.task == "segmentation":
        return "part segmentation is not certified by covers"
    return None
