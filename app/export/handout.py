"""A handout for one lesson: one page of A4, laid out for the browser's print; pictures are inside the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import torch

from app.figures.cloud import MeshView
from app.figures.pose_pictures import pose_picture
from app.figures.surface import surface_of
from tpc_core import load_shape, parse_transform

_BLUE = (110, 160, 205)
_POINTS = 64
_STYLE = """
@page { size: A4; margin: 16mm 18mm; }
* { box-sizing: border-box; }
body { font: 11.5pt/1.45 "Source Sans 3", "Source Sans Pro", Calibri, Arial, sans-serif; color: #111;
  max-width: 174mm; margin: 0 auto; }
header { display: flex; justify-content: space-between; border-bottom: 1.5pt solid #111;
  padding-bottom: 2mm; font-size: 10pt; }
h1 { font-size: 18pt; margin: 5mm 0 1mm; } h2 { font-size: 12.5pt; margin: 5mm 0 1mm; break-after: avoid; }
.idea { font-size: 13pt; border-left: 3pt solid #0072B2; padding-left: 4mm; margin: 2mm 0 3mm; }
.poses { display: flex; gap: 8mm; justify-content: center; break-inside: avoid; }
figure { margin: 0; text-align: center; font-size: 10pt; } figure img { width: 40mm; }
li { margin-bottom: 1.5mm; } .blank { display: inline-block; min-width: 24mm; border-bottom: .8pt solid #111; }
.lines div { border-bottom: .6pt solid #999; height: 8.5mm; }
.box { break-inside: avoid; }
footer { font-size: 9pt; color: #444; margin-top: 5mm; }
@media screen { body { padding: 10mm; } }
"""


@dataclass(frozen=True)
class Handout:
    """What a student takes home: pictures of an object in some poses, things to find out, and an exercise."""

    object: str
    transform: str
    poses: tuple[tuple[float, ...], ...]
    tasks: tuple[str, ...]
    """Each with ___ where something is to be written."""
    question: str


HANDOUTS: dict[str, Handout] = {
    "1": Handout(
        "gallery:piano-2",
        "z-twist",
        ((0.0,), (30.0,), (90.0,)),
        (
            "Object: ___ The classifier says at first: ___",
            "My smallest attack: ___ degrees. There the classifier says: ___",
            "The smallest attack in the class: ___ degrees.",
        ),
        "None of my tries breaks the classifier. Is it robust? Why?",
    ),
    "2": Handout(
        "gallery:monitor-1",
        "z-twist",
        ((0.0,), (25.0,), (50.0,)),
        (
            "Twist θ = ___ degrees, noise σ = ___ degrees, n = ___ votes.",
            "Votes for the true class: ___ of ___, so q is about ___",
            "The base classifier becomes wrong at θ = ___; there q is ___",
        ),
        "Why can the share of votes not jump?",
    ),
    "3": Handout(
        "gallery:night_stand-1",
        "z-twist",
        ((0.0,), (40.0,), (80.0,)),
        (
            "True p = ___, α = ___. The bound was too high in ___ of ___ experiments.",
            "With 20 looks, the share of people who claim too much: ___",
        ),
        "Why is it wrong to stop when the bound looks good?",
    ),
    "4": Handout(
        "gallery:guitar-1",
        "z-twist",
        ((0.0,), (20.0,), (60.0,)),
        (
            "σ = ___ degrees, p_A is at least ___, so r = σ Φ⁻¹(p_A) = ___ degrees.",
            "The twist-trained classifier: p_A at least ___, r = ___ degrees.",
        ),
        "Does twice the noise give twice the radius?",
    ),
    "5": Handout(
        "gallery:chair-1",
        "z-taper",
        ((-0.5,), (0.0,), (0.5,)),
        (
            "Radius R = ___. All cells pass with M = ___ cells.",
            "With the paper's displacement and the same M, ___ of ___ cells pass.",
        ),
        "Why may the neighbour of a cell not help it?",
    ),
    "6": Handout(
        "gallery:guitar-1",
        "z-rotation",
        ((0.0,), (60.0,), (150.0,)),
        (
            "Vote over all rotations: class ___, n_A(x) = ___, after a turn by ___ degrees n_A(Rx) = ___",
            "With cells instead, the ball of R = ___ degrees needs about ___ cells.",
        ),
        "Why does a uniform vote not change when the object turns?",
    ),
    "7": Handout(
        "gallery:chair-1",
        "z-taper",
        ((-0.3,), (0.0,), (0.3,)),
        (
            "Radius R = ___. All cells are proved with M = ___ cells.",
            "In my cell, the margin is at least ___",
        ),
        "When do we still need votes?",
    ),
}


def handout(lesson: str, title: str, idea: str, exercise: str) -> str:
    """The page of one lesson."""
    made = HANDOUTS[lesson]
    tasks = "".join(f"<li>{_blanks(task)}</li>" for task in made.tasks)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Lesson {lesson}: {escape(title)}</title>\n"
        f"<style>{_STYLE}</style></head>\n<body><header><span>TPC Explorer, lesson {lesson}</span>"
        "<span>Name: ______________________ Date: ____________</span></header>\n"
        f'<h1>{escape(title)}</h1>\n<p class="idea">{escape(idea)}</p>\n'
        f'<div class="poses">{_pictures(made)}</div>\n'
        f"<h2>Find out</h2>\n<ol>{tasks}</ol>\n"
        f'<div class="box"><h2>Answer</h2>\n<p>{escape(made.question)}</p>\n{_lines(3)}</div>\n'
        f'<div class="box"><h2>Exercise</h2>\n<p>{escape(exercise)}</p>\n{_lines(4)}</div>\n'
        "<footer>Solutions: docs/teaching.md of TPC Explorer. MIT licence.</footer></body></html>\n"
    )


def exercise_of(text: str) -> str:
    """The exercise in a lesson's notes, without its solution."""
    found = re.search(r"\*\*Exercise\.\*\* (.+?)\n\n", f"{text}\n\n", re.DOTALL)
    return "" if found is None else " ".join(found[1].split())


def ideas(document: str) -> dict[str, str]:
    """The one idea of each lesson, from the table of docs/teaching.md."""
    return dict(re.findall(r"^\| (\d+) \| \d+ \| (.+?) \|$", document, re.MULTILINE))


def _pictures(made: Handout) -> str:
    shape, transform = load_shape(made.object), parse_transform(made.transform)
    mesh = shape.mesh_around(_POINTS)
    assert mesh is not None
    # A coarse face stays flat when it is twisted; the finer surface bends.
    surface = surface_of(MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces)))
    assert surface is not None
    corners = torch.from_numpy(np.asarray(surface.vertices, dtype=np.float64))
    shown = []
    for values in made.poses:
        moved = transform.apply(corners, transform.from_edge(values)).numpy()
        picture = pose_picture(moved, np.asarray(surface.faces).reshape(-1, 3), 300, _BLUE)
        words = ", ".join(_value(values, degrees=transform.parameters[0].unit == "deg"))
        caption = f"<figcaption>{made.transform} {words}</figcaption>"
        shown.append(f'<figure><img alt="" src="{picture}">{caption}</figure>')
    return "".join(shown)


def _value(values: Sequence[float], *, degrees: bool) -> list[str]:
    return [f"{value:g}°" if degrees else f"{value:g}" for value in values]


def _blanks(task: str) -> str:
    return escape(task).replace("___", '<span class="blank">&nbsp;</span>')


def _lines(number: int) -> str:
    return f'<div class="lines">{"<div></div>" * number}</div>'
