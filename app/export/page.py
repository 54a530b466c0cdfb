"""The page of a report: everything in one file, drawn by plotly.js from within it, and no request to anywhere."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tpc_core.evaluation import STYLE

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:"
)
"""Asked of the browser, not only promised: nothing may be fetched, not even by mistake."""

_MORE_STYLE = """
:root { color-scheme: light; }
body { max-width: 70rem; color: #1b2433; background: #fff; }
.verdict { border-left: 6px solid; border-radius: 8px; padding: .8rem 1.1rem; background: #f4f6fa; font-size: 1.15rem; }
.certified { border-color: #0072B2; } .refuted { border-color: #D55E00; } .undecided { border-color: #E69F00; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; margin: 1rem 0; }
.panel { border: 1px solid #dbe1ea; border-radius: 8px; padding: .6rem; }
.panel p { color: #5c6779; font-size: .9rem; margin: .4rem 0 0; }
.plot { height: 430px; }
button { font: inherit; padding: .45rem .9rem; border: 1px solid #2f5fb3; border-radius: 8px; background: #2f5fb3;
  color: #fff; cursor: pointer; }
footer { color: #5c6779; font-size: .85rem; margin-top: 2rem; }
"""

_SCRIPT = """
const unpack = async (id) => {
  const packed = atob(document.getElementById(id).textContent.trim());
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};
const draw = async () => {
  const script = document.createElement("script");
  script.textContent = await unpack("plotly");
  document.head.append(script);
  for (const [place, figure] of Object.entries(JSON.parse(await unpack("figures")))) {
    const config = { displaylogo: false, responsive: true, scrollZoom: place === "cloud", displayModeBar: false };
    await Plotly.newPlot(place, figure.data, figure.layout, config);
    document.getElementById(place).dataset.drawn = "yes";
  }
};
const save = async () => {
  const link = document.createElement("a");
  const content = await unpack("certificate");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  link.download = document.getElementById("save").dataset.name;
  link.click();
};
document.getElementById("save").onclick = save;
draw().catch((error) => { document.getElementById("trouble").textContent = `The figures cannot be drawn: ${error}`; });
"""


@dataclass(frozen=True)
class Panel:
    """A figure with its caption; `name` is its place in the page."""

    name: str
    caption: str
    figure: dict[str, Any]


def page(
    *,
    title: str,
    verdict: str,
    sentence: str,
    panels: Sequence[Panel],
    body: str,
    certificate: str,
    filename: str,
) -> str:
    """The whole file. `body` is HTML that is already escaped; everything else is escaped here."""
    figures = {panel.name: panel.figure for panel in panels}
    drawn = "".join(
        f'<div class="panel"><div class="plot" id="{panel.name}"></div><p>{escape(panel.caption)}</p></div>'
        for panel in panels
    )
    mark = {"certified": "✓ Certified", "refuted": "✗ Refuted", "undecided": "? Undecided"}[verdict]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{_MORE_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n"
        f'<p class="verdict {verdict}"><b>{mark}.</b> {escape(sentence)}</p>\n'
        f'<p id="trouble"></p>\n<div class="figures">{drawn}</div>\n{body}\n'
        f'<p><button id="save" data-name="{escape(filename)}">Save the certificate (JSON)</button></p>\n'
        f"{_store('plotly', _plotly())}{_store('figures', _packed(json.dumps(figures)))}"
        f"{_store('certificate', _packed(certificate))}"
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _store(name: str, content: str) -> str:
    """Data that the browser keeps and does not run; base64 holds no character that could end the element."""
    return f'<script type="text/plain" id="{name}">{content}</script>\n'


def _packed(text: str) -> str:
    # No clock in the archive: the same run gives the same file.
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


@lru_cache(maxsize=1)
def _plotly() -> str:
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("a report needs plotly: pip install 'tpc-explorer[app]'")
    return _packed((Path(spec.origin).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8"))
