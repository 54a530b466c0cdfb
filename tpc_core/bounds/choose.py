"""Which checkpoints can be bounded, by their cards alone, and which of them to take for a transform."""

from __future__ import annotations

from tpc_core.bounds.kinds import kind_of
from tpc_core.errors import UnsupportedRequest
from tpc_core.models import Model, load_model
from tpc_core.models.card import Frame, ModelCard
from tpc_core.models.choose import fitting_models
from tpc_core.models.store import shipped_names
from tpc_core.transforms import Transform, parts_of


def bounded_models(transform: Transform) -> list[tuple[ModelCard, str | None]]:
    """Every model with None, or with the reason why nothing certain can be said of its answers.

    Those that can come first; among them, those that were trained for certain answers about the transform.
    """
    # What is proved is about the network itself, whatever would shake its clouds: no variants.
    cards = [card for card, _ in fitting_models(transform) if "@" not in card.name]
    pairs = [(card, _objection(card, transform)) for card in cards]
    return sorted(pairs, key=lambda pair: (pair[1] is not None, _rank(pair[0], transform)))


def bounded_model_for(transform: Transform, points: int | None = None) -> Model:
    """The shipped classifier for a certain proof, of the wanted size where there is one."""
    shipped = set(shipped_names())
    good = [
        card for card, objection in bounded_models(transform) if objection is None and card.name in shipped
    ]
    good = [card for card in good if card.task == "classification"]
    if not good:
        raise UnsupportedRequest(
            f"there are no exact proofs for {transform.name} yet; ask for a proof by votes"
        )
    wanted = points or 64
    return load_model(min(good, key=lambda card: (card.num_points or 64) != wanted).name)


def _rank(card: ModelCard, transform: Transform) -> tuple[bool, bool, bool, float]:
    """Networks that label points last; first those trained for this transform, then those that hold most of it."""
    try:
        ball = kind_of(transform, card.task) == "ball"
    except UnsupportedRequest:
        ball = False
    suits = card.box > 0 if ball else _is_trained_for(card, transform)
    kept = (card.held_aside or {}).get("certain linf 0.01", 0.0) if ball else 0.0
    return card.task == "segmentation", not suits, card.box > 0 and not ball, -kept


def _is_trained_for(card: ModelCard, transform: Transform) -> bool:
    """Whether it saw attacks of the transform, or, for a composition, of one that holds all its parts."""
    if transform.name in card.regions:
        return True
    parts = {part.name for part in parts_of(transform)}
    return len(parts) > 1 and any(parts <= set(name.split("+")) for name in card.regions)


def _objection(card: ModelCard, transform: Transform) -> str | None:
    """Why not, in the words of a list; `refusal.require_bounded` decides by the network itself."""
    try:
        kind_of(transform, card.task)
    except UnsupportedRequest as error:
        return str(error)
    bounded = {"classification": "pointnet", "segmentation": "pointnet-segmentation"}[card.task]
    if card.architecture != bounded or card.options.get("tnets") or card.options.get("feature_tnet"):
        return f"there are no exact bounds for {card.architecture}"
    if card.brought is not None and card.brought.frame != Frame():
        return "its clouds are turned or scaled first"
    if card.options.get("canonical", "none") != "none":
        return f"it brings clouds to the pose {card.options['canonical']!r} first"
    return None
