"""The safe band of the sliders: how far the class is certified, found in the background and drawn on their tracks."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from app.components.sliders import Band
from app.components.terms import explained
from app.pages.explore.frames import Setting
from app.server.visitors import board
from app.session.uploads import is_upload
from app.widgets.objects import current_spec
from tpc_core import Transform
from tpc_core.engines import IDLE
from tpc_core.errors import TpcError
from tpc_core.forecast import SafeBand, SafeBandWork, parts_of_sliders


@dataclass(frozen=True)
class Bands:
    """What is known of each part of the transform so far, and whether more comes."""

    found: dict[str, SafeBand]
    live: bool


NONE = Bands({}, False)


def bands_of(setting: Setting, transform: Transform) -> Bands:
    """The bands of the object, model and transform on the page; asking for them starts the search."""
    model = setting.model
    if model is None or model.task != "classification":
        return NONE
    visitor, spec = str(st.session_state["visitor"]), current_spec()
    cloud = setting.shape.cloud(setting.seen)
    mark = hashlib.sha256(f"{model.digest}|{cloud.digest}|{transform.name}".encode()).hexdigest()[:24]
    key = f"band|{mark}"
    before = st.session_state.get("band")
    if before != key:
        st.session_state["band"] = key
        earlier = None if before is None else board().task(visitor, str(before))
        if earlier is not None and earlier.live:
            earlier.cancel()
    task = board().task(visitor, key)
    if task is None or (task.view().status == "cancelled"):
        work = SafeBandWork(model, cloud, transform, None if is_upload(spec) else spec)
        with suppress(TpcError):  # too much is under way: the page works without a band
            task = board().start(visitor, key, "Safe band", work, rank=IDLE)
    if task is None:
        return NONE
    view = task.view()
    return Bands(view.result or {}, view.live)


def slider_bands(bands: Bands, transform: Transform) -> dict[str, list[Band]]:
    """The stretches of each slider: certified, attack known, and nothing known between them."""
    drawn: dict[str, list[Band]] = {}
    names = iter(transform.parameters)
    for part in parts_of_sliders(transform):
        own = [next(names) for _ in part.parameters]
        band = bands.found.get(part.name)
        if band is None:
            continue
        for slider, inner in zip(own, part.parameters, strict=True):
            reach = band.reach.get(inner.name)
            if reach is None:
                continue
            pieces = [Band(slider.low, slider.high, "unknown", "not known")]
            if reach > 0:
                low = max(-reach, slider.low)
                words = f"certified up to {inner.describe(float(f'{reach:.4g}'))}"
                pieces.append(Band(low, min(reach, slider.high), "certified", words))
            pieces += [Band(low, high, "attack", "another class wins here") for low, high in band.attacks]
            drawn[slider.name] = pieces
    return drawn


def say_bands(bands: Bands, transform: Transform) -> None:
    """The bands in words, and the certificates behind them."""
    if not bands.found:
        if bands.live:
            st.caption("Looking for the safe range of this slider ...")
        return
    lines = [line for part in parts_of_sliders(transform) if (line := _line(bands, part))]
    more = " More votes are coming in." if bands.live else ""
    explained(" ".join(lines) + more)
    made = {
        part: band.certificate
        for part in parts_of_sliders(transform)
        if (band := bands.found.get(part.name)) is not None
        and band.certificate is not None
        and band.certificate.verdict == "certified"
    }
    if not made:
        return
    with st.popover("Certificates behind the band", type="tertiary"):
        for part, certificate in made.items():
            st.download_button(
                f"Certificate: {part.name}",
                certificate.to_json(),
                file_name=f"certificate-{certificate.cloud.name}-{part.name}.json",
                mime="application/json",
                icon=":material/download:",
                key=f"band_certificate_{part.name}",
                type="tertiary",
                on_click="ignore",
            )


def _line(bands: Bands, part: Transform) -> str:
    band = bands.found.get(part.name)
    if band is None:
        return ""
    reach = max(band.reach.values(), default=0.0)
    said = part.parameters[-1].describe(float(f"{reach:.4g}"))
    name = band.prediction.replace("_", " ")
    if reach <= 0:
        return f"{part.name}: nothing is certified yet, after {band.votes:,} votes."
    sure = f"{100 * (1 - band.alpha):g} % confidence, {band.votes:,} votes"
    return f"{part.name}: *{name}* is certified up to {said} ({sure})."
