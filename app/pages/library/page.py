"""Library: every model and data set of this server, and the way to add one's own."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.library.add import add_a_data_set, add_a_model
from app.pages.library.objects import browse_objects
from app.server import cache
from app.server.owner import may_add
from app.session import links
from tpc_core.models import ModelCard
from tpc_core.smoothing import smoothing_from_json

PARTS = ["Objects", "Models", "Add a model", "Add a data set"]


def page() -> None:
    """One part at a time."""
    linked = [links.choice("part", "library_part", PARTS, PARTS[0])]
    links.restore(linked)
    if st.session_state.get("library_part") not in PARTS:
        st.session_state["library_part"] = PARTS[0]
    st.markdown("## Library")
    part = st.segmented_control(
        "Part", PARTS, required=True, key="library_part", label_visibility="collapsed"
    )
    if part == "Objects":
        browse_objects()
    elif part == "Models":
        _models()
    elif not may_add():
        st.info(
            "The person who runs this server adds models and data sets: with `tpc models add` and `tpc data add`, or "
            "on this page, if the server was started with TPC_ADD=1."
        )
    elif part == "Add a model":
        add_a_model()
    else:
        add_a_data_set()
    links.share(linked)


def _models() -> None:
    """All models as a table; a row that is chosen shows its card."""
    cards = cache.model_cards()
    st.caption(f"{len(cards)} models. Choose a row to see its card.")
    event = st.dataframe(
        [_row(card) for card in cards],
        hide_index=True,
        key="library_models",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        height=min(38 + 35 * len(cards), 560),
    )
    picked = event["selection"]["rows"]
    if picked and picked[0] < len(cards):
        _card(cards[picked[0]])


def _row(card: ModelCard) -> dict[str, object]:
    return {
        "model": card.name,
        "from": "shipped" if card.brought is None else "yours",
        "network": card.architecture,
        "points": card.num_points,
        "classes": len(card.classes),
        "smoothing": smoothing_from_json(card.smoothing).describe(),
        "trained under it": "yes" if card.noise_trained else "no",
        "clean, %": None if card.clean_accuracy is None else round(card.clean_accuracy.value, 1),
    }


def _card(card: ModelCard) -> None:
    names = ", ".join(name.replace("_", " ") for name in card.classes)
    st.markdown(f"**{literal(card.name)}**: {card.parameters:,} parameters; classes: {literal(names)}")
    for note in [] if card.brought is None else card.brought.notes:
        st.markdown(f"- {literal(note)}")
    st.code(f"tpc models show {card.name}", language="bash")
