"""Runs: the objects of an evaluation as a grid, sliced by how they ended; one click opens a certificate in Debug."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app.components.escape_markdown import literal
from app.components.thumbnails import thumbnails
from app.pages.debug.cases import keep, model_of
from app.server import cache
from app.server.owner import may_add
from app.session import links
from app.session.uploads import read_certificate
from tpc_core.data.files import read_bytes
from tpc_core.errors import TpcError
from tpc_core.evaluation import OpenedRun, Reason, RunObject, find_runs, open_run, reason_of
from tpc_core.shipped import shipped

SHIPPED = "Gallery"
OWN = "runs"
"""Where `tpc evaluate` is told to write by our examples."""
PAGE = 60
"""Objects that are shown at once."""
ANY = "any"
TONES = {"certified": "good", "refuted": "bad", "undecided": "open"}
ORDERS = ("data set", "margin", "cost")
LARGEST = 32 << 20
"""Bytes of a certificate."""


@dataclass(frozen=True)
class Seen:
    """An object of the run with the reason of its verdict, where its certificate was kept."""

    object: RunObject
    reason: Reason | None

    @property
    def why(self) -> str:
        """The reason in a few words."""
        if self.reason is not None:
            return self.reason.title
        return "A smaller radius failed" if self.object.status == "implied" else "No certificate was kept"

    @property
    def has_margin(self) -> bool:
        """Whether votes say how far p_A is from what is needed."""
        return self.reason is not None and self.reason.margin is not None

    @property
    def margin(self) -> float:
        """By how many sigmas p_A is beyond what is needed; lowest where an attack was found, or nothing is known."""
        return -math.inf if self.reason is None or self.reason.margin is None else self.reason.margin


def page() -> None:
    """The chooser of runs, the slices, the grid."""
    folders = run_folders(_root())
    linked = [links.choice("run", "runs_run", list(folders), SHIPPED)]
    links.restore(linked)
    if st.session_state.get("runs_run") not in folders:
        st.session_state["runs_run"] = next(iter(folders), None)
    st.markdown("## Runs, object by object")
    if not folders:
        st.info(
            "There is no run here. `tpc evaluate` makes one; with --certificates it keeps the certificates, too."
        )
        return
    left, right = st.columns([2, 1])
    name = str(left.selectbox("Run", list(folders), key="runs_run"))
    if may_add():
        right.text_input(
            "Your runs are in", OWN, key="runs_root", max_chars=400,
            help="A folder on this machine: the `--out` of `tpc evaluate`, or one that holds several of them.",
        )  # fmt: skip
    try:
        run = _opened(str(folders[name]), _stamp(folders[name]))
    except TpcError as error:
        st.error(literal(error))
        return
    settings = run.settings
    claim = st.segmented_control(
        "Transform and radius",
        settings.claims,
        default=settings.claims[0],
        required=True,
        key=f"runs_claim_{name}",
    )
    try:
        seen = _seen(str(folders[name]), _stamp(folders[name]), settings.claims.index(str(claim)))
    except TpcError as error:
        st.error(literal(error))
        return
    st.caption(
        f"{literal(run.title)}. Each certificate is wrong with probability {settings.alpha:g} at most. "
        "Choose an object to open its certificate in Debug."
    )
    _grid(_sliced(seen, settings.counted), settings.counted)
    with st.expander("The command of this run"):
        st.code(
            f"{settings.command()} --out RUN --certificates RUN/certificates",
            language="bash",
            wrap_lines=True,
        )
    links.share(linked)


def _root() -> Path | None:
    """The folder whose runs are listed, for whoever runs the server: ./runs, or any other."""
    if not may_add():
        return None
    given = st.session_state.get("runs_root", OWN)
    return Path(os.path.expanduser(str(given).strip() or OWN))  # unlike Path.expanduser, it never raises


def run_folders(root: Path | None) -> dict[str, Path]:
    """Name -> folder: the shipped run, and those under a folder of whoever runs the server."""
    found: dict[str, Path] = {}
    gallery_run = shipped("results", "gallery")
    if (gallery_run / "journal.jsonl").is_file():
        found[SHIPPED] = gallery_run
    if root is not None and root.is_dir():
        for folder in find_runs(root)[:50]:
            found[root.resolve().name if folder == root else folder.relative_to(root).as_posix()] = folder
    return found


def _range(title: str, key: str, values: Sequence[float], form: str) -> tuple[float, float]:
    """Two ends that the visitor may draw in; everything where there is nothing to choose between."""
    if len(set(values)) < 2:
        return -math.inf, math.inf
    ends = math.floor(10 * min(values)) / 10, math.ceil(10 * max(values)) / 10
    held = st.session_state.get(key)
    if held is not None and not (ends[0] <= held[0] <= held[1] <= ends[1]):
        del st.session_state[key]  # another run, or another claim
    low, high = st.slider(title, *ends, ends, key=key, format=form)
    return low, high


def _sliced(seen: Sequence[Seen], counted: str) -> list[Seen]:
    """The objects that the visitor wants to see, in the order wanted."""
    first, second, third, fourth = st.columns(4)
    classes = sorted({item.object.row.label or "unknown" for item in seen})
    verdicts = [
        word for word in ("certified", "refuted", "undecided", "implied", "skipped") if _has(seen, word)
    ]
    reasons = sorted({item.why for item in seen})
    label = first.selectbox("Class", [ANY, *classes], key="runs_class", format_func=_plain)
    verdict = second.selectbox("Verdict", [ANY, *verdicts], key="runs_verdict", format_func=_verdict)
    reason = third.selectbox("Reason", [ANY, *reasons], key="runs_reason")
    order = fourth.selectbox(
        "Order by", ORDERS, key="runs_order", help="The smallest margin, or the highest cost, comes first."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        margins = [item.margin for item in seen if item.has_margin]
        low, high = _range("Margin, in sigmas", "runs_margin", margins, "%.1f")
    with right:
        costs = [float(item.object.cost) for item in seen]
        least, most = _range(f"Cost, in {counted}", "runs_cost", costs, "%.0f")
    kept = [
        item
        for item in seen
        if label in (ANY, item.object.row.label or "unknown")
        and verdict in (ANY, item.object.status)
        and reason in (ANY, item.why)
        and (not item.has_margin or low <= item.margin <= high)
        and least <= item.object.cost <= most
    ]
    if order == "margin":
        kept.sort(key=lambda item: item.margin)
    elif order == "cost":
        kept.sort(key=lambda item: -item.object.cost)
    return kept


def _grid(kept: Sequence[Seen], counted: str) -> None:
    st.caption(_counts(kept))
    pages = -(-len(kept) // PAGE)
    number = int(st.number_input("Page", 1, pages, key="runs_page", width=160)) if pages > 1 else 1
    shown = kept[(number - 1) * PAGE : number * PAGE]
    picked = thumbnails([_tile(item, counted) for item in shown], selected=None, key="runs_grid")
    chosen = next((item for item in shown if item.object.spec == picked), None)
    if chosen is not None:
        _open(chosen)


def _tile(item: Seen, counted: str) -> dict[str, str]:
    row, status = item.object.row, item.object.status
    wrong = "" if item.object.right else f", said {row.prediction or 'nothing'}"
    margin = f", margin {item.margin:+.1f}" if item.has_margin else ""
    return {
        "name": item.object.spec,
        "title": row.id.rpartition("/")[2],
        "note": f"{row.id}{wrong}: {item.why}{margin}, {item.object.cost:,} {counted}",
        "picture": _picture(item.object.spec),
        "badge": _verdict(status) if item.object.right else f"{_verdict(status)}, wrong class",
        "tone": TONES.get(status, "plain") if item.object.right else "plain",
    }


def _open(item: Seen) -> None:
    """The certificate of an object in Debug; where none was kept, the object in Certify."""
    path = item.object.certificate
    if path is None:
        st.warning(
            "No certificate of this object was kept. `tpc evaluate --certificates RUN/certificates` keeps them."
        )
        return
    try:
        certificate = read_certificate(read_bytes(path, LARGEST), path.name)
    except TpcError as error:
        st.error(literal(error))
        return
    title = f"{item.object.row.id}, {item.object.claim}"
    case = keep(str(st.session_state["visitor"]), title, certificate, model_of(certificate))
    st.session_state["debug_case"] = case.id
    st.switch_page(st.session_state["pages"]["debug"])


def _picture(spec: str) -> str:
    if spec.startswith("gallery:"):
        return f"app/static/thumbnails/{spec.removeprefix('gallery:')}.png"
    try:
        return cache.picture(spec)
    except TpcError:  # the data are not on this machine: the verdicts are shown all the same
        return ""


def _counts(kept: Sequence[Seen]) -> str:
    words = [
        f"{sum(item.object.status == word for item in kept)} {word}" for word in TONES if _has(kept, word)
    ]
    return ("1 object" if len(kept) == 1 else f"{len(kept)} objects") + (
        f": {', '.join(words)}" if words else ""
    )


def _has(seen: Sequence[Seen], status: str) -> bool:
    return any(item.object.status == status for item in seen)


def _verdict(status: str) -> str:
    """A verdict as a person reads it: what fails at a smaller radius is not asked again at a larger one."""
    return {"implied": "not certified", "skipped": "not run"}.get(status, status)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _stamp(folder: Path) -> float:
    """When the journal was last written, so that a run under way is read again."""
    return (folder / "journal.jsonl").stat().st_mtime


@st.cache_data(max_entries=8, show_spinner=False)
def _opened(folder: str, stamp: float) -> OpenedRun:
    return open_run(Path(folder))


@st.cache_data(max_entries=8, show_spinner="Reading the certificates of the run ...")
def _seen(folder: str, stamp: float, claim: int) -> list[Seen]:
    return [Seen(item, _reason(item)) for item in _opened(folder, stamp).objects(claim)]


def _reason(item: RunObject) -> Reason | None:
    if item.certificate is None:
        return None
    try:
        return reason_of(read_certificate(read_bytes(item.certificate, LARGEST), item.certificate.name))
    except TpcError:
        return Reason("The certificate cannot be read", None)
