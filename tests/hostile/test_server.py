"""The server promises: it calls nobody, answers no other site, takes only what was announced, knows its visitors."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.server.protection.headers import content_policy, embedding_sites
from app.server.protection.origins import Origins
from app.server.serve import Served, served
from tests.hostile.session import Answer, Session, ask, cookies_of

GUARD = Path(__file__).parent / "guard"
EVIL = "https://evil.example"
HOST = "class.example"


@dataclass(frozen=True)
class Watched:
    """A server under guard: what it says, and whom it tries to reach."""

    served: Served
    log: Path
    calls: Path

    @property
    def address(self) -> str:
        return self.served.address


def under_guard(folder: Path, **settings: str) -> dict[str, str]:
    path = os.pathsep.join([str(GUARD), os.environ.get("PYTHONPATH", "")])
    return {"OMP_NUM_THREADS": "1", "PYTHONPATH": path, "SOCKET_GUARD": str(folder / "calls"), **settings}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("server")
    with served(under_guard(folder), folder / "log") as running:
        yield Watched(running, folder / "log", folder / "calls")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A server that answers to one name, and keeps its runs."""
    folder = tmp_path_factory.mktemp("named")
    settings = under_guard(folder, TPC_HOST=HOST, TPC_RUNS=str(folder / "runs"))
    (folder / "runs").mkdir(mode=0o755)
    with served(settings, folder / "log") as running:
        yield Watched(running, folder / "log", folder / "calls")


# -- nobody is called ----------------------------------------------------------------------------------------------


def test_the_guard_sees_what_it_looks_for(tmp_path: Path) -> None:
    code = (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(('192.0.2.1', 9))\n"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **under_guard(tmp_path)}, check=False)
    assert "192.0.2.1" in (tmp_path / "calls").read_text()


def test_no_connection_to_anywhere_is_ever_attempted(server: Watched) -> None:
    """Not at the start, not for a page, not for an upload, and not for pages of other sites, however they ask."""
    with Session(server.address) as page:
        page.run()
        (place,) = page.announce("shape.off")
        assert page.put(place, b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").status == 204
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/_stcore/upload_file/a/b"):
        for method in ("GET", "OPTIONS"):
            ask(server.address, path, method, {"Origin": EVIL})
    for origin in (EVIL, "null", "http://127.0.0.1.evil.example", "http://192.168.1.7:8501"):
        with pytest.raises(InvalidStatus), Session(server.address, origin=origin):
            pass
    assert not server.calls.exists(), server.calls.read_text()


def test_it_calls_nobody_even_when_it_is_opened_to_others(tmp_path: Path) -> None:
    with served(under_guard(tmp_path, STREAMLIT_SERVER_ADDRESS="0.0.0.0"), tmp_path / "log") as running:
        assert ask(running.address, "/_stcore/health").status == 200
    assert not (tmp_path / "calls").exists(), (tmp_path / "calls").read_text()


def test_pages_of_other_sites_hold_nobody_up(server: Watched) -> None:
    """Many of them knock while the health of the server is asked for: each answer comes at once."""

    def knock() -> None:
        for _ in range(10):
            with pytest.raises(InvalidStatus), Session(server.address, {"x": "y"}, origin=EVIL):
                pass

    knocking = [threading.Thread(target=knock) for _ in range(5)]
    for thread in knocking:
        thread.start()
    slowest = 0.0
    while any(thread.is_alive() for thread in knocking):
        started = time.monotonic()
        assert ask(server.address, "/_stcore/health").status == 200
        slowest = max(slowest, time.monotonic() - started)
    assert slowest < 2.0  # one look-up alone would take as long, and there were fifty


# -- who is answered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "host", "origin", "welcome"),
    [
        ("", "localhost:8501", None, True),
        ("", "localhost:8501", "http://localhost:8501", True),
        ("", "any.example", "https://any.example", True),
        ("", "localhost:8501", "http://localhost:3000", False),
        ("", "localhost:8501", EVIL, False),
        ("", "localhost:8501", "null", False),
        ("", "localhost:8501", "http://localhost:8501.evil.example", False),
        ("", "localhost:8501", "http://u@localhost:8501", False),
        ("", None, None, False),
        ("", "a b", None, False),
        ("", "x:99999999", None, False),
        (HOST, HOST, f"https://{HOST}", True),
        (HOST, HOST, f"https://{HOST}:8443", True),
        (HOST, "127.0.0.1:8501", f"https://{HOST}", True),
        (HOST, "127.0.0.1:8501", None, True),
        (HOST, "evil.example", None, False),
        (HOST, "evil.example", EVIL, False),
        (HOST, HOST, EVIL, False),
        (HOST, f"{HOST}.evil.example", None, False),
        ("a.example,b.example", "b.example", "https://a.example", True),
    ],
)
def test_only_our_own_pages_are_answered(
    hosts: str, host: str | None, origin: str | None, welcome: bool
) -> None:
    names = frozenset(name for name in hosts.split(",") if name)
    assert Origins(lambda *_: None, names).welcome(host, origin) is welcome  # type: ignore[arg-type, return-value]


def test_under_a_name_of_its_own_it_answers_to_no_other(named: Watched) -> None:
    assert ask(named.address, "/", headers={"Host": HOST}).status == 200
    assert ask(named.address, "/_stcore/health").status == 200  # the container asks itself
    assert ask(named.address, "/", headers={"Host": "evil.example"}).status == 403
    assert ask(named.address, "/", headers={"Host": HOST, "Origin": EVIL}).status == 403


def test_a_page_of_the_class_is_answered_behind_a_proxy_that_renames_the_host(named: Watched) -> None:
    with Session(named.address, origin=f"https://{HOST}") as page:
        assert page.run()
    assert not named.calls.exists(), named.calls.read_text()


# -- what the browser is told --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/_stcore/health", "/nowhere", "/static/none.js", "/_stcore/upload_file/a/b"]
)
def test_every_answer_has_the_headers(server: Watched, path: str) -> None:
    for method in ("GET", "PUT"):
        answer = ask(server.address, path, method)
        policy = answer.header("Content-Security-Policy")
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.header("X-Frame-Options") == "DENY"
        assert answer.header("X-Content-Type-Options") == "nosniff"
        assert answer.header("Referrer-Policy") == "no-referrer"


def test_the_stage_is_fetched_while_the_page_starts(server: Watched) -> None:
    path = ask(server.address, "/").header("Link").partition(">")[0].removeprefix("<")
    assert ask(server.address, path).status == 200
    assert not ask(server.address, "/_stcore/health").header("Link")


def test_no_script_from_elsewhere_or_from_text_may_run() -> None:
    rules = dict(rule.split(" ", 1) for rule in content_policy("'none'").split("; "))
    assert "unsafe" not in rules["script-src"]
    assert "http" not in content_policy("'none'")
    assert rules["object-src"] == "'none'"


def test_embedding_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "TPC_FRAMES", "https://moodle.example, javascript:alert(1) 'unsafe-inline'; script-src *"
    )
    assert embedding_sites() == "'self' https://moodle.example"
    monkeypatch.delenv("TPC_FRAMES")
    assert embedding_sites() == "'none'"


# -- who a visitor is ----------------------------------------------------------------------------------------------


def visitor_cookie(answer: Answer) -> str:
    (found,) = (v for k, v in answer.headers if k.lower() == "set-cookie" and v.startswith("tpc_visitor="))
    return found


def test_a_visitor_is_named_by_the_server_in_a_cookie_that_no_script_reads(server: Watched) -> None:
    first = ask(server.address)
    assert "; HttpOnly" in visitor_cookie(first)
    assert "; SameSite=Lax" in visitor_cookie(first)
    assert "Secure" not in visitor_cookie(first)
    name = cookies_of(first)["tpc_visitor"]
    again = ask(server.address, headers={"Cookie": f"tpc_visitor={name}"})
    assert "tpc_visitor" not in cookies_of(again)
    assert cookies_of(ask(server.address))["tpc_visitor"] != name


@pytest.mark.parametrize("chosen", ["me", "me.", ".", "a" * 24 + "." + "b" * 24, "x" * 5000, "é.é", "%00"])
def test_a_name_that_the_server_did_not_sign_is_not_taken(server: Watched, chosen: str) -> None:
    answer = ask(server.address, headers={"Cookie": f"tpc_visitor={chosen}".encode().decode("latin-1")})
    assert cookies_of(answer)["tpc_visitor"] != chosen


def test_behind_https_the_cookie_is_for_https_alone(server: Watched) -> None:
    assert "; Secure" in visitor_cookie(ask(server.address, headers={"X-Forwarded-Proto": "https"}))


def test_a_name_outlives_the_server_where_runs_do(tmp_path: Path) -> None:
    settings = under_guard(tmp_path, TPC_RUNS=str(tmp_path / "runs"))
    with served(settings, tmp_path / "log") as running:
        name = cookies_of(ask(running.address))["tpc_visitor"]
    with served(settings, tmp_path / "log") as running:
        assert "tpc_visitor" not in cookies_of(
            ask(running.address, headers={"Cookie": f"tpc_visitor={name}"})
        )
    assert stat.S_IMODE((tmp_path / "runs" / ".secret").stat().st_mode) == 0o600


# -- what is written down ------------------------------------------------------------------------------------------


def test_what_the_server_writes_is_for_itself_alone(named: Watched) -> None:
    status = Path(f"/proc/{named.served.pid}/status").read_text()
    assert "Umask:\t0077" in status
    assert stat.S_IMODE((named.log.parent / "runs").stat().st_mode) == 0o700


def test_files_are_written_as_the_umask_says(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nos.umask(int(sys.argv[1], 8))\n"
        "from tpc_core.machinery.atomic import write_atomically\nwrite_atomically(Path(sys.argv[2]), b'x')\n"
    )
    for mask, folder_mode, file_mode in (("077", 0o700, 0o600), ("022", 0o755, 0o644)):
        path = tmp_path / mask / "visitor" / "run.json"
        subprocess.run([sys.executable, "-c", code, mask, str(path)], check=True)
        assert stat.S_IMODE(path.stat().st_mode) == file_mode
        assert stat.S_IMODE(path.parent.stat().st_mode) == folder_mode


# -- what is taken in ----------------------------------------------------------------------------------------------


def test_a_file_under_an_invented_name_is_turned_away_unread(server: Watched) -> None:
    with Session(server.address) as page:
        page.run()
        (place,) = page.announce("a.off")
        invented = place.rsplit("/", 1)[0] + "/11111111-2222-3333-4444-555555555555"
        assert page.put(invented, b"x" * 1000).status == 403
        assert page.put(place, b"x" * 1000).status == 204
        assert page.put(place, b"y" * 1000).status == 403  # it has come already
        (late,) = page.announce("b.off")
    assert page.put(late, b"x").status in (400, 403)  # the page is gone


def test_a_file_must_say_how_large_it_is_and_not_be_too_large(server: Watched) -> None:
    with Session(server.address) as page:
        page.run()
        first, second = page.announce("a.off", "b.off")
        assert page.put(first, b"x", **{"Content-Length": str(60 << 20)}).status == 413
        chunked = ask(
            server.address,
            second,
            "PUT",
            {"Transfer-Encoding": "chunked", "Cookie": page.cookie_header},
        )
        assert chunked.status == 411


def test_another_session_cannot_use_an_announcement(server: Watched) -> None:
    with Session(server.address) as mine, Session(server.address) as theirs:
        mine.run()
        theirs.run()
        (place,) = mine.announce("a.off")
        elsewhere = place.replace(mine.name, theirs.name)
        assert theirs.put(elsewhere, b"x").status == 403


def test_the_server_wrote_no_stack(server: Watched) -> None:
    """Runs last: whatever was tried on it, it never stumbled."""
    assert "Traceback" not in server.log.read_text(errors="replace")


# -- what no page uses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["metrics", "agent/interact", "agent/openapi.json", "agent/mcp"])
def test_doors_that_no_page_uses_are_closed(server: Watched, path: str) -> None:
    for method in ("GET", "POST"):
        assert ask(server.address, f"/_stcore/{path}", method, body=b"{}").status == 404


def test_a_page_that_speaks_in_text_is_hung_up_on_without_a_stack(server: Watched) -> None:
    with Session(server.address) as page:
        page.line.send("hello")
        with pytest.raises(ConnectionClosed):
            deque(iter(page.hear, None))
    assert "text frames" not in server.log.read_text(errors="replace")
