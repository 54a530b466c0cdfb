"""About: the version, what this is, the paper, the licence, how to cite, where help is, keys and words."""

from __future__ import annotations

from html import escape

import streamlit as st

from app.components.terms import TERMS
from tpc_core.version import VERSION

WHAT = """TPC Explorer shows how 3D classifiers can be fooled, and proves where they cannot. You move an object by hand
or let an attack do it. Then you compute a certificate: a proof that no transform within a radius changes the answer.
Everybody can check that proof again with the file alone.

The method is transformation-specific smoothing (TPC). This program corrects it, needs fewer votes, and adds exact
proofs without probability for plain networks."""

PAPER = """Wenda Chu, Linyi Li, Bo Li: *TPC: Transformation-Specific Smoothing for Point Cloud Models.* Proceedings of
the 39th International Conference on Machine Learning (ICML), PMLR 162, pages 4035 to 4056, 2022."""

CITE = f"""@software{{tpc_explorer,
  title   = {{TPC Explorer}},
  author  = {{{{The TPC Explorer developers}}}},
  version = {{{VERSION}}},
  year    = {{2026}},
  license = {{MIT}}
}}

@inproceedings{{chu2022tpc,
  title     = {{TPC: Transformation-Specific Smoothing for Point Cloud Models}},
  author    = {{Chu, Wenda and Li, Linyi and Li, Bo}},
  booktitle = {{Proceedings of the 39th International Conference on Machine Learning}},
  series    = {{PMLR}},
  volume    = {{162}},
  pages     = {{4035--4056}},
  year      = {{2022}}
}}"""

HELP = """- **New here?** The Lessons take 45 minutes and need no mathematics beyond the second year.
- **A certificate failed?** Debug says why, and offers what would settle it.
- **A word is new?** Words with a dotted line are explained when you point at them, or reach them by Tab.
- **To show a screen to somebody**, press *Copy link*. The link opens the same screen.
- **Your own file**: Explore, *Choose an object*, *Upload*. It stays in the memory of this server, and is forgotten
  when you leave.
- **On your own machine**: `pip install 'tpc-explorer[app]'`, then `tpc app`. `tpc --help` lists all commands."""

KEYS = (
    ("Tab, Shift + Tab", "go to the next or the previous control"),
    ("Arrow keys on the 3D view", "turn the view"),
    ("+ and − on the 3D view", "zoom in and out"),
    ("Home on the 3D view", "go back to the first view"),
    ("Arrow keys on a slider", "move it by one step"),
    ("Ctrl + Z, Ctrl + Y", "undo and redo a change of the pose"),
    ("Arrow keys in Lessons", "go to the next or the previous lesson"),
    ("Escape", "close a menu, a panel or an explanation"),
)


def page() -> None:
    """Two columns: what it is, and how to use it."""
    st.title("About TPC Explorer", anchor=False)
    st.caption(f"Version {VERSION}. MIT licence: use it, change it, and share it.")
    left, right = st.columns(2, gap="large")
    with left:
        _part("What it is", WHAT)
        _part("The paper", PAPER)
        _part("How to cite", "")
        st.code(CITE, language="bibtex", wrap_lines=True)
        _part(
            "Licence",
            "TPC Explorer is under the MIT licence. ModelNet40 and ShapeNet have licences of their own.",
        )
    with right:
        _part("Help", HELP)
        _part("Keyboard", "")
        st.html(
            _table(
                ("Key", "What it does"), [(f"<kbd>{escape(key)}</kbd>", escape(does)) for key, does in KEYS]
            )
        )
        _part("Words", "")
        rows = [(f'<b id="{escape(name)}">{escape(name)}</b>', escape(text)) for name, text in TERMS.items()]
        st.html(_table(("Word", "What it means"), rows))


def _part(title: str, text: str) -> None:
    st.header(title, anchor=False)
    if text:
        st.markdown(text)


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th scope=row>{first}</th><td>{second}</td></tr>" for first, second in rows)
    titles = "".join(f"<th scope=col>{title}</th>" for title in head)
    return f'<table class="tpc-table"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
