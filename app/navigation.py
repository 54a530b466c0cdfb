"""The pages of TPC Explorer, as every visitor gets them; app/main.py is the server that shows them."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # `streamlit run` puts app/ on the path, and not the folder that holds it
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from streamlit import config  # noqa: E402

from app.components.access import mount_access  # noqa: E402
from app.components.colour_key import colour_key  # noqa: E402
from app.components.style import style  # noqa: E402
from app.components.terms import mount_terms  # noqa: E402
from app.pages.about import page as about  # noqa: E402
from app.pages.certify import page as certify  # noqa: E402
from app.pages.classroom import page as classroom  # noqa: E402
from app.pages.debug import page as debug  # noqa: E402
from app.pages.explore import page as explore  # noqa: E402
from app.pages.home import page as home  # noqa: E402
from app.pages.lessons import page as lessons  # noqa: E402
from app.pages.library import page as library  # noqa: E402
from app.pages.results import page as results  # noqa: E402
from app.pages.runs import page as runs  # noqa: E402
from app.pages.theory import page as theory  # noqa: E402
from app.server.engine import engine  # noqa: E402
from app.server.memory import set_libraries_aside  # noqa: E402
from app.server.owner import is_shared  # noqa: E402
from app.server.streamlit_patches import remember_theme  # noqa: E402
from app.server.visitors import visitor  # noqa: E402
from app.session.settings import keep_settings  # noqa: E402
from tpc_core.shipped import shipped  # noqa: E402

for once in (remember_theme, set_libraries_aside):
    st.cache_resource(show_spinner=False)(once)()
engine()
if config._server_mode == "starlette-managed":  # this file by itself, without what stands before it
    st.error("The explorer is started by `tpc app`, or `streamlit run app/main.py`.")
    st.stop()
st.set_page_config(page_title="TPC Explorer", page_icon=str(shipped("assets", "icon.png")), layout="wide")

pages = {
    "home": st.Page(home.page, title="Home", icon=":material/home:", default=True),
    "explore": st.Page(explore.page, title="Explore", icon=":material/3d_rotation:", url_path="explore"),
    "certify": st.Page(certify.page, title="Certify", icon=":material/verified:", url_path="certify"),
    "debug": st.Page(debug.page, title="Debug", icon=":material/troubleshoot:", url_path="debug"),
    "lessons": st.Page(lessons.page, title="Lessons", icon=":material/school:", url_path="lessons"),
    "theory": st.Page(theory.page, title="Theory", icon=":material/menu_book:", url_path="theory"),
    "results": st.Page(results.page, title="Results", icon=":material/leaderboard:", url_path="results"),
    "runs": st.Page(runs.page, title="Runs", icon=":material/grid_view:", url_path="runs"),
    "library": st.Page(library.page, title="Library", icon=":material/inventory_2:", url_path="library"),
    "class": st.Page(
        classroom.page,
        title="Class",
        icon=":material/groups:",
        url_path="class",
        visibility="visible" if is_shared() else "hidden",
    ),
    "about": st.Page(about.page, title="About", icon=":material/info:", url_path="about"),
}
st.session_state["pages"] = pages
st.session_state["visitor"] = visitor()
keep_settings()
style()
chosen = st.navigation(list(pages.values()), position="top")
mount_terms()
with_heading = (pages["home"], pages["about"])
mount_access("" if chosen in with_heading else chosen.title)
chosen.run()
without_key = [pages[name] for name in ("theory", "results", "library", "class", "about")]
if chosen not in (*without_key, pages["lessons"]):  # lessons have the key in their own language
    colour_key()
