"""Text from outside, shown as it is: names, labels, errors and sentences may hold Markdown, and must not act as it."""

from __future__ import annotations

import re

from tpc_core.errors import one_line

# Markdown's own marks, and those that Streamlit adds: colours and icons in colons, formulas in dollars.
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:^=&])")


def literal(text: object) -> str:
    """The text on one line with every mark escaped, for st.markdown, st.error and whatever else reads Markdown."""
    return _MARKS.sub(r"\\\1", one_line(str(text)))
