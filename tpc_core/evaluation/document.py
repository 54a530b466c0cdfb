"""A small document: headings, paragraphs, tables and drawings, written as Markdown or as one HTML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
p { max-width: 62rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: right; white-space: nowrap; }
th { border-bottom-width: 2px; }
td.word, th.word { text-align: left; }
pre { overflow-x: auto; padding: .8rem; background: #8882; border-radius: .4rem; font-size: .85rem; }
figure { display: inline-block; margin: .5rem; }
figure svg { max-width: 100%; height: auto; background: #fff; border-radius: .4rem; }
"""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Table:
    """The first `words` columns hold words and stand left; the others hold numbers and stand right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Drawing:
    """An SVG; Markdown links to it by its file name, HTML holds it."""

    name: str
    title: str
    svg: str


Block = Heading | Paragraph | Code | Table | Drawing


_MARKS = re.compile(r"([\\`*<>\[\]|])")


def literal(text: str) -> str:
    """Text that may come from a file, as Markdown that shows it as it is: one line, no tag, no link, no emphasis."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """The document for reading in a repository."""
    return "\n\n".join([f"# {literal(title)}", *(_markdown(block) for block in blocks)]) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {literal(block.text)}"
    if isinstance(block, Paragraph):
        return literal(block.text)
    if isinstance(block, Code):
        longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)  # so that no line of the text can close it
        return f"{fence}sh\n{block.text}\n{fence}"
    if isinstance(block, Drawing):
        return f"![{literal(block.title)}]({quote(block.name)})"
    rule = ["---" if number < block.words else "---:" for number in range(len(block.header))]
    lines = [block.header, rule, *block.rows]
    return "\n".join("| " + " | ".join(literal(cell) for cell in line) + " |" for line in lines)


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """The document as one page that needs nothing else: no script, no font, no network."""
    body = "\n".join([f"<h1>{escape(title)}</h1>", *(_html(block) for block in blocks)])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{escape(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre>{escape(block.text)}</pre>"
    if isinstance(block, Drawing):
        return f"<figure>{block.svg}</figure>"
    header = _html_row("th", block.header, block.words)
    rows = "\n".join(_html_row("td", row, block.words) for row in block.rows)
    return f'<div class="scroll"><table>\n<thead>{header}</thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def _html_row(tag: str, cells: Sequence[str], words: int) -> str:
    kinds = [' class="word"' if number < words else "" for number in range(len(cells))]
    inside = "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
    return f"<tr>{inside}</tr>"
