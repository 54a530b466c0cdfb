"""A visitor without a browser: it says what Streamlit's page would say, over the same WebSocket and uploads.

Twenty pages of Chromium keep two cores busy by themselves, before the server has done anything; in a class each
runs on a laptop of its own. This visitor takes its place: the server cannot tell it from a page. It opens the
Explore page, uploads its file through the dialog, moves the slider (one report in flight, a last one once it rests),
presses the buttons, asks again as often as a running certificate tells it to, and downloads the certificate.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import urllib.request
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.marked import TELLING, Mark
from benchmarks.visits import QUESTION, Visit
from tpc_core import Certificate

PATIENCE = 120.0
REST = 0.3
"""Seconds after an answer until sliders.js says that the slider rests."""
_NAMES = re.compile(rb"marked-\d{3}")
_ARRAYS = re.compile(rb'"bdata": ?"([^"]{%d})' % TELLING)
_FACTS = re.compile(r'data-run="(\w*)" data-status="(\w+)"')
_STAMPS = re.compile(rb'"stamp": ?(\d+)')
_IDS = re.compile(rb"\$\$ID-[0-9a-f]{32}-([A-Za-z_]+)")


@dataclass
class LineVisitor(Visit):
    """One session of the server, over a line of its own."""

    patterns: dict[str, str] = field(default_factory=dict)
    """Which cloud begins how: the points of every visitor."""

    def __post_init__(self) -> None:
        self.names: set[str] = set()
        self.points: set[str] = set()
        self.ids: dict[str, str] = {}
        self.fragments: dict[str, str] = {}
        self.held: dict[str, WidgetState] = {}
        self.page = self.name = self.query = self.session = ""
        self.pages: dict[str, str] = {}
        self.stamp = self.shown = self.finished = self.begun = 0
        self.idle = True
        self.download = ""
        self.alerts: list[str] = []
        self.status: tuple[str, str] = ("", "")
        self.urls: Any = None
        self.polls: dict[str, asyncio.Task[None]] = {}
        self.news = asyncio.Event()

    # -- what a person does ------------------------------------------------------------------------------------

    async def open(self, address: str) -> None:
        """Come by a link to a question, bring the file, and go to the Explore page."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        await self.enter(address)
        self.opened = loop.time() - start
        await self._press("choose_object")
        await self._until(lambda: "upload_file" in self.ids)
        await self._settle()
        await self._upload()
        await self._until(lambda: "upload_take" in self.ids)
        await self._settle()
        before = self.finished
        await self._press("upload_take")
        await self._until(lambda: self.finished > before and self.idle)
        self.held.clear()  # the dialog is closed
        await self._go("Explore")

    async def enter(self, address: str, question: str = QUESTION) -> None:
        """Come by a link to a question, and no further."""
        self.address = address
        self.cookie, self.cookies = await asyncio.to_thread(_cookies, address)
        self.line = await websockets.connect(
            f"{address.replace('http', 'ws')}/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit"), websockets.Subprotocol(self.cookie)],
            additional_headers={"Cookie": self.cookies, "Origin": address},
            max_size=None,
            compression=None,
        )
        self.listening = asyncio.create_task(self._listen())
        self.query, self.name = question, "certify"
        await self._run_page()
        self.name = ""

    async def drag(self, dice: random.Random, steps: int) -> None:
        """Drag the slider over a few values, each as soon as the one before is seen; then let go."""
        start, by = dice.randint(-120, 120), dice.choice([-3, -2, 2, 3])
        for step in range(steps):
            await self._move(start + by * step)
        await asyncio.sleep(REST)
        await self._move(start + by * (steps - 1), final=True)

    async def certify(self) -> None:
        """Ask for a certificate of the object at hand, wait for it, take it, and come back."""
        await self.to_certify()
        await self.run()
        await self.take()
        await self._go("Explore")

    async def to_certify(self) -> None:
        """Go to the Certify page, and stay."""
        await self._go("Certify")

    async def run(self) -> None:
        """Press Certify and wait for the verdict of the new run."""
        before, start = self.status[0], asyncio.get_running_loop().time()
        self.download = ""
        await self._press("start")
        await self._until(lambda: self.status[0] != before and self.status[1] == "done" and self.download)
        self.runs.append(asyncio.get_running_loop().time() - start)

    async def take(self) -> None:
        """Download the certificate, and look whether it is of this visitor's object."""
        content = await asyncio.to_thread(_fetch, f"{self.address}{self.download}")
        self.keep(Certificate.from_json(content.decode()))

    async def look_around(self) -> None:
        """Anything of another visitor in what was received is trouble."""
        self.compare(self.names, self.points)

    async def close(self) -> None:
        """Leave as one closes a tab."""
        for poll in self.polls.values():
            poll.cancel()
        self.listening.cancel()
        await self.line.close()

    # -- how it is said ----------------------------------------------------------------------------------------

    async def _move(self, value: float, *, final: bool = False) -> None:
        await self._until(lambda: "pose_sliders" in self.ids)
        loop = asyncio.get_running_loop()
        start = loop.time()
        self.stamp += 1
        stamp, slider = self.stamp, self.ids["pose_sliders"]
        report = {"values": [value], "shape": "z-rotation", "stamp": stamp, "final": final}
        moved = WidgetState(
            id=_make_trigger_id(slider, "events"),
            json_trigger_value=json.dumps([{"event": "move", "value": report}]),
        )
        done = self.finished
        await self._say(moved, fragment=self.fragments.get("pose_sliders", ""))
        if final:
            await self._until(lambda: self.finished > done and self.shown >= stamp)
            self.rests.append(1000 * (loop.time() - start))
        else:
            await self._until(lambda: self.shown >= stamp)
            took = 1000 * (loop.time() - start)
            self.moves.append({"reply": took, "answered": took, "total": took})

    async def _press(self, key: str) -> None:
        await self._until(lambda: key in self.ids)
        await self._say(
            WidgetState(id=self.ids[key], trigger_value=True), fragment=self.fragments.get(key, "")
        )

    async def _settle(self) -> None:
        """Wait until no script runs, as a person waits who sees the page still changing."""
        await self._until(lambda: self.idle)

    async def _go(self, title: str) -> None:
        self.page, self.name = self.pages[title], ""
        await self._run_page()

    async def _run_page(self) -> None:
        before = self.finished
        await self._say()
        await self._until(lambda: self.finished > before and self.idle)

    async def _say(self, *states: WidgetState, fragment: str = "", auto: bool = False) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash, asked.page_name = self.query, self.page, self.name
        asked.fragment_id, asked.is_auto_rerun = fragment, auto
        asked.context_info.url = self.address
        asked.widget_states.widgets.extend([*self.held.values(), *states])
        await self.line.send(message.SerializeToString())

    async def _upload(self) -> None:
        """Bring the marked file to the file field of the dialog."""
        await self.bring("upload_file", self.mark.file.name, self.mark.file.read_bytes())

    async def announce(self, name: str) -> str:
        """Ask for an address to send a file to; the path of it."""
        self.urls = None
        message = BackMsg()
        message.file_urls_request.request_id = "marked"
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self.session
        await self.line.send(message.SerializeToString())
        await self._until(lambda: self.urls is not None)
        return str(self.urls.upload_url)

    async def send_file(self, path: str, name: str, content: bytes) -> None:
        """Put a file where it was announced."""
        await asyncio.to_thread(_put, f"{self.address}{path}", name, content, self.cookie, self.cookies)

    async def bring(self, field: str, name: str, content: bytes) -> None:
        """As a file field does it: ask for an address, put the file there, and tell the page."""
        await self.send_file(await self.announce(name), name, content)
        state = WidgetState(id=self.ids[field])
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = self.urls.file_id, name, len(content)
        info.file_urls.CopyFrom(self.urls)
        self.held[field] = state
        await self._say(fragment=self.fragments.get(field, ""))

    async def _until(self, true: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not true():
                if self.listening.done():
                    self.listening.result()
                    raise ConnectionError(f"{self.mark.name}: the server hung up")
                self.news.clear()
                await self.news.wait()

    # -- what is heard -----------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        try:
            async for content in self.line:
                assert isinstance(content, bytes)
                self.received += len(content)
                self.names.update(found.decode() for found in _NAMES.findall(content))
                starts = (found.decode() for found in _ARRAYS.findall(content))
                self.points.update(self.patterns[start] for start in starts if start in self.patterns)
                self._hear(ForwardMsg.FromString(content), content)
                self.news.set()
        finally:
            self.news.set()

    def _hear(self, message: ForwardMsg, content: bytes) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begin(message)
        elif kind == "navigation":
            self.page = message.navigation.page_script_hash
            self.pages = {page.page_name: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "file_urls_response":
            self.urls = message.file_urls_response.file_urls[0]
        elif kind == "auto_rerun":
            self._poll(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                if fragment in self.polls:
                    self.polls.pop(fragment).cancel()
        elif kind == "script_finished":
            self.idle = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            self.finished += message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.troubles.append("a script could not be compiled")
        elif kind == "delta":
            self._draw(message, content)

    def _begin(self, message: ForwardMsg) -> None:
        self.idle = False
        self.begun += 1
        self.session = message.new_session.initialize.session_id or self.session
        if not message.metadata.run.fragment_ids:  # a run of the whole page ends its timers
            for poll in self.polls.values():
                poll.cancel()
            self.polls.clear()
            self.ids.clear()

    def _draw(self, message: ForwardMsg, content: bytes) -> None:
        delta = message.delta
        for widget in _IDS.finditer(content):
            self.ids[widget[1].decode()] = widget[0].decode()
            self.fragments[widget[1].decode()] = delta.fragment_id
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.troubles.append(f"shows an error: {element.exception.message}")
        elif kind == "alert":
            self.alerts.append(element.alert.body)
        elif kind == "html":
            found = _FACTS.search(element.html.body)
            self.status = (found[1], found[2]) if found else self.status
        elif kind == "download_button" and "save_json" in element.download_button.id:
            self.download = element.download_button.url
        elif kind == "bidi_component" and "pose_sliders" in element.bidi_component.id:
            self.shown = max(int(stamp) for stamp in _STAMPS.findall(content))

    def _poll(self, fragment: str, interval: float) -> None:
        async def again() -> None:
            while True:
                await asyncio.sleep(interval)
                await self._say(fragment=fragment, auto=True)

        if fragment in self.polls:
            self.polls[fragment].cancel()
        self.polls[fragment] = asyncio.create_task(again())


def new_line_visitor(mark: Mark, marks: list[Mark]) -> LineVisitor:
    """A visitor whom the server has not seen."""
    return LineVisitor(mark, patterns={other.pattern: other.name for other in marks})


def _cookies(address: str) -> tuple[str, str]:
    """The token that uploads repeat, and all cookies as a browser sends them back."""
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=60) as answer:
        given = [line.partition(";")[0] for line in answer.headers.get_all("Set-Cookie")]
    (token,) = (pair.partition("=")[2].strip('"') for pair in given if pair.startswith("_streamlit_xsrf="))
    return token, "; ".join(given)


def _put(url: str, name: str, content: bytes, cookie: str, cookies: str) -> None:
    edge = b"------marked"
    head = f'Content-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'.encode()
    body = b"--" + edge + b"\r\n" + head + content + b"\r\n--" + edge + b"--\r\n"
    headers = {
        "Content-Type": f"multipart/form-data; boundary={edge.decode()}",
        "X-Xsrftoken": cookie,
        "Cookie": cookies,
    }
    request = urllib.request.Request(url, data=body, headers=headers, method="PUT")
    with urllib.request.urlopen(request, timeout=60):
        pass


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        content: bytes = answer.read()
    return content
