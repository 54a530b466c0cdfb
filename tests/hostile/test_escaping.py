"""Names, labels and sentences from outside are shown as they are; they never act as HTML, Markdown or shell."""

from __future__ import annotations

import ast
import html
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.components.escape_markdown import literal
from app.export import run_report
from tests.certificate.made import QUESTIONS
from tests.hostile.targets import _journal
from tpc_core import Certificate, Cloud, certify
from tpc_core.evaluation.document import Code, Drawing, Heading, Paragraph, Table, to_html, to_markdown
from tpc_core.evaluation.journal import read_journal

ROOT = Path(__file__).resolve().parents[2]
PAYLOAD = "<img src=x onerror=alert(1)>![i](http://x/i.png)[l](javascript:x)**b**`c`|$x$:red[r]\"'&"
"""One of everything that a page could be made to do."""

ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "script", "button"),
    *("h1", "h2", "h3", "p", "b", "div", "pre", "table", "thead", "tbody", "tr", "th", "td"),
}


class Tags(HTMLParser):
    """Collects every tag, every attribute that runs code, and every address that a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.dangers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.dangers += [
            f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name in ("src", "href")
        ]


def tags_of(page: str) -> Tags:
    parser = Tags()
    parser.feed(page)
    return parser


def marked(kind: str) -> Certificate:
    """A genuine certificate of a model and an object whose every name is the payload."""
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    classes = tuple(f"{PAYLOAD}{number}" for number in range(len(model.classes)))
    named = replace(model, name=PAYLOAD, classes=classes)
    return certify(named, Cloud(cloud.points, PAYLOAD, PAYLOAD), transform, radius, options)


@pytest.mark.parametrize("kind", ["cover", "cover undecided", "cover refuted", "parameter", "group"])
def test_the_report_of_a_run_shows_hostile_names_as_text(kind: str) -> None:
    page = run_report(marked(kind), title=PAYLOAD)
    found = tags_of(page)
    assert found.tags <= ALLOWED
    assert found.dangers == []
    assert "<img" not in page
    assert html.escape("<img src=x onerror=alert(1)>") in page


BLOCKS = [
    Heading(PAYLOAD),
    Paragraph(PAYLOAD),
    Code(f"tpc evaluate {PAYLOAD}\n```\n# not a heading"),
    Table([PAYLOAD, "b"], [[PAYLOAD, "1\n2"]]),
]


def test_an_evaluation_report_in_html_shows_hostile_names_as_text() -> None:
    found = tags_of(to_html(PAYLOAD, BLOCKS))
    assert found.tags <= ALLOWED
    assert found.dangers == []


def test_an_evaluation_report_in_markdown_shows_hostile_names_as_text() -> None:
    text = to_markdown(PAYLOAD, [*BLOCKS, Drawing("a b).svg", PAYLOAD, "<svg/>")])
    outside = re.sub(r"(?ms)^(`{3,})sh$.*?^\1$", "", text)
    assert "not a heading" not in outside
    bare = re.sub(r"\\.", "", outside)  # without what is escaped
    assert "<" not in bare
    assert "**" not in bare
    assert "](http" not in bare
    assert "](javascript" not in bare
    rows = [line for line in bare.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {3}


def test_a_command_from_a_hostile_journal_is_safe_to_paste(tmp_path: Path) -> None:
    evil = "x; touch $(echo hacked) `id` #"
    (tmp_path / "journal.jsonl").write_bytes(
        _journal().replace(b'"model": "m"', f'"model": "{evil}"'.encode())
    )
    settings, _ = read_journal(tmp_path)
    words = shlex.split(settings.command())
    assert words[words.index("--model") + 1] == evil


def test_literal_leaves_no_mark_and_no_line_break() -> None:
    text = literal(PAYLOAD + "\n# heading\n\x1b[31m")
    assert text.isprintable()
    unescaped = re.sub(r"\\.", "", text)
    assert not set(unescaped) & set("`*_[]<>()#!|~$:\\")
    assert re.sub(r"\\(.)", r"\1", text).startswith(PAYLOAD)


RISKY_NAMES = {"error", "notice", "complaint", "reason"}
RISKY_FIELDS = {"message", "label", "title", "object_id", "winner"}
MARKDOWN = {
    "markdown",
    "caption",
    "error",
    "warning",
    "info",
    "success",
    "toast",
    "write",
    "title",
    "header",
    "subheader",
}
SAFE_CALLS = {"literal", "escape", "_plain", "len", "duration"}
TRUSTED = {
    "section.title",
    "table.title",
    "figure.title",
    "lesson.title",
    "page.title",
    "step.title",
    "field.label",
}
"""Words of our own, from the source."""


def raw_values(node: ast.AST) -> Iterator[str]:
    """The risky values in an expression that no escaping stands around."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in SAFE_CALLS:
            return
    if isinstance(node, ast.Name) and node.id in RISKY_NAMES:
        yield node.id
    if isinstance(node, ast.Attribute) and node.attr in RISKY_FIELDS and ast.unparse(node) not in TRUSTED:
        yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from raw_values(child)


def test_no_page_hands_text_from_outside_to_markdown() -> None:
    found = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            shown = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in MARKDOWN
            )
            if shown and node.args:  # type: ignore[union-attr]
                for value in raw_values(node.args[0]):  # type: ignore[union-attr]
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {value}")  # type: ignore[attr-defined]
    assert found == []
