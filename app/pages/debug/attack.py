"""Attack: the smallest one found, played from the object to its failure, with the votes on the way."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from app.components.escape_markdown import literal
from app.components.plot import PNG as SAVE
from app.components.plot import plot
from app.components.stage import HOME, PNG, stage
from app.components.style import theme
from app.components.walk import walk
from app.figures.arrays import packed
from app.figures.cloud import MeshView
from app.figures.debug_gap import classes_on, path_figure
from app.figures.looks import stage_look
from app.figures.pose_pictures import pose_picture
from app.figures.scene import scene_of
from app.figures.surface import surface_of
from app.pages.debug.case_surface import surface_of_case
from app.pages.debug.opened_case import Opened
from app.pages.debug.work import attack_path, start_hunt, view_of
from tpc_core import Model
from tpc_core.explain import AttackSearch, PathStep, first_change
from tpc_core.ledger import Refutation
from tpc_core.proofs import CellStanding, is_proven
from tpc_core.transforms import CoordinateNoise, shader

_HEIGHT = 320
_MOST_PARAMETERS = 16
"""Coordinate noise has three for each point; no stage moves by those."""


@dataclass(frozen=True)
class Known:
    """A proven attack, its size in parts of the region, and the class that it leads to."""

    attack: Refutation
    size: float
    rival: str


def found_attack(visitor: str, case: Opened) -> Known | None:
    """The smallest attack that is known of this case: from its ledger, or from the search that is under way."""
    view, classes = case.view, case.case.certificate.model.classes
    proven = [
        attack
        for number, attack in enumerate(view.ledger.refutations, start=1)
        if is_proven(attack, view.ledger, case.case.certificate.alpha, number)
    ]
    search = view_of(visitor, f"{case.key}|hunt")
    if search is not None and isinstance(search.result, AttackSearch) and search.result.attack is not None:
        proven.append(search.result.attack)
    known = [Known(each, view.size(np.array(each.parameter)), classes[each.rival]) for each in proven]
    return min(known, key=lambda each: each.size, default=None)


def attack_panel(visitor: str, case: Opened, model: Model | None, facts: CellStanding | None) -> None:
    """Search, then show."""
    if model is None:
        st.caption("The model that voted is not on this server, so no attack can be searched.")
        return
    if model.task != "classification":
        st.caption(
            "Attacks change the class of a cloud. A segmentation model gives a part to each point instead."
        )
        return
    known = found_attack(visitor, case)
    hunted = view_of(visitor, f"{case.key}|hunt")
    words, button = st.columns([3, 1.4], vertical_alignment="center")
    words.markdown(_sentence(case, known, hunted.result if hunted is not None else None))
    live = hunted is not None and hunted.live
    label = "Search for an attack" if known is None else "Search for a smaller one"
    if button.button(label, key="debug_hunt", icon=":material/target:", disabled=live, width="stretch"):
        start_hunt(visitor, case, model, facts if known is None else None)
        st.rerun()
    if known is not None:
        _show(visitor, case, model, known)


def _sentence(case: Opened, known: Known | None, search: object) -> str:
    name = case.view.class_name or "its class"
    if known is not None:
        votes = known.attack.votes
        place = case.view.describe(np.array(known.attack.parameter))
        return (
            f"At **{place}** the smoothed model says **{literal(known.rival)}**, not {literal(name)}: "
            f"{int(votes.total[known.attack.rival]):,} of {votes.n:,} fresh votes. "
            f"Its size is {known.size:.0%} of the radius asked for."
        )
    if isinstance(search, AttackSearch) and search.done:
        closest = (
            ""
            if search.closest is None
            else f" The class was always at least {search.closest:.0%} of the votes ahead."
        )
        looked = f"No attack was found inside the region in {search.evaluations:,} evaluations."
        return f"{looked}{closest} This is not a proof: there may still be an attack."
    return "The search tries random, grid and gradient attacks. What it finds is tested with fresh votes."


def _show(visitor: str, case: Opened, model: Model, known: Known) -> None:
    """The object moves to the attack on the stage, with the votes beside it, and a strip of poses below."""
    path = attack_path(visitor, case, model, known.attack.parameter)
    steps: list[PathStep] = [] if path is None else list(path.result or [])
    left, right = st.columns([6, 5], gap="medium")
    with left:
        _stage(case, known)
    with right:
        if not steps:
            st.caption("Casting votes on the way to the attack ...")
            return
        certified = min(1.0, case.certified / known.size) if known.size > 0 else 0.0
        name = case.view.class_name or ""
        walk(
            stage="debug_attack",
            transform=case.view.transform.name,
            z=known.attack.parameter if len(known.attack.parameter) <= _MOST_PARAMETERS else (),
            parts=[step.part for step in steps],
            shares=[{each: step.share(each) for each in step.votes} for step in steps],
            names=classes_on(steps, name),
            target=name,
            certified=certified,
            key="debug_walk",
        )
        st.caption("The bar: blue is certified, yellow is open, orange is broken.")
    broken = first_change(steps, name)
    _strip(case, known, certified, broken)


def _stage(case: Opened, known: Known) -> None:
    """The object on the stage, at rest; the walk beside it moves it."""
    view = case.view
    points, mesh = view.cloud.points.numpy(), surface_of_case(case)
    parameter = np.array(known.attack.parameter)
    drawable = shader(view.transform) is not None
    moved = {} if drawable else {"served": packed(view.at(parameter).numpy().ravel())}
    stage(
        scene_of(points, mesh if drawable else None),
        view.transform,
        [0.0] * len(view.transform.parameters),
        key="debug_attack",
        height=f"{_HEIGHT}px",
        look=stage_look(theme()),
        settings={
            "colouring": "height" if drawable else "displacement",
            "surface": True,
            "ghost": True,
            "side_by_side": False,
            "point_size": 2.5,
        },
        epoch=case.key,
        parts=moved,
        camera_of=case.key,
        title=f"{view.class_name or 'object'}, on the way to an attack",
        actions=(HOME, PNG),
        filename="attack",
    )


def _strip(case: Opened, known: Known, certified: float, broken: float | None) -> None:
    """The object, the farthest pose on the way that is certified, the first that is broken, and the attack."""
    name, parameter = case.view.class_name or "its class", np.array(known.attack.parameter)
    shown = [(0.0, "the object", name)]
    if certified > 0:
        shown.append((certified, "nearest certified pose", name))
    if broken is not None and broken < 1:
        shown.append((broken, "nearest broken pose", known.rival))
    shown.append((1.0, "the attack", known.rival))
    columns = st.columns(4)
    for column, (part, words, says) in zip(columns, shown, strict=False):
        picture = _picture(case, tuple((part * parameter).tolist()), right=says == name)
        what = case.view.describe(part * parameter) if part else "no attack"
        column.html(
            f'<figure class="tpc-pose" data-part="{part:.3f}"><img alt="" src="{picture}">'
            f"<figcaption><b>{words}</b><br>{html.escape(what)}<br>says {html.escape(says.replace('_', ' '))}"
            "</figcaption></figure>"
        )


def _picture(case: Opened, z: tuple[float, ...], *, right: bool) -> str:
    mesh = surface_of_case(case)
    return _drawn(case.key, z, right, case, mesh)


@st.cache_data(max_entries=256, show_spinner=False)
def _drawn(key: str, z: tuple[float, ...], right: bool, _case: Opened, _mesh: MeshView | None) -> str:
    colour = (110, 160, 205) if right else (226, 138, 84)
    if _mesh is None or isinstance(_case.view.transform, CoordinateNoise):
        return pose_picture(_case.view.at(np.array(z)).numpy(), None, 150, colour)
    surface = surface_of(_mesh)  # a coarse face stays flat when it is twisted; the finer surface bends
    if surface is None:
        return pose_picture(_case.view.at(np.array(z)).numpy(), None, 150, colour)
    corners = torch.from_numpy(np.asarray(surface.vertices, dtype=np.float64))
    moved = _case.view.transform.apply(corners, torch.tensor(z, dtype=torch.float64))
    return pose_picture(moved.numpy(), np.asarray(surface.faces).reshape(-1, 3), 150, colour)


def path_chart(visitor: str, case: Opened, model: Model, known: Known, *, key: str, height: int) -> None:
    """Who gets the votes on the way to an attack."""
    st.caption(
        "Votes on the way from the object to the attack" + ("; blue: certified." if case.certified else ".")
    )
    path = attack_path(visitor, case, model, known.attack.parameter)
    if path is None or not path.result:
        st.caption("Following the prediction ...")
        return
    certified = min(1.0, case.certified / known.size) if known.size > 0 else None
    figure = path_figure(path.result, case.view.class_name or "", certified, theme())
    plot(figure, key=key, height=height, stamp=f"{len(path.result)}|{known.size:.6f}", actions=(SAVE,))
