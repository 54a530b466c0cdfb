"""A page without a browser, as small as it can be: it connects, runs the page once, and sends files."""

from __future__ import annotations

import http.client
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""

    def header(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key.lower() == name.lower())


def ask(
    address: str,
    path: str = "/",
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """One request; any status is an answer."""
    parts = urlsplit(address)
    line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        line.request(method, path, body=body, headers=headers or {})
        found = line.getresponse()
        return Answer(found.status, found.getheaders(), found.read())
    finally:
        line.close()


def cookies_of(answer: Answer) -> dict[str, str]:
    """The cookies that an answer sets."""
    pairs = (value.partition(";")[0] for key, value in answer.headers if key.lower() == "set-cookie")
    return {name: value.strip('"') for name, _, value in (pair.partition("=") for pair in pairs)}


@dataclass
class Session:
    """One open page."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    origin: str | None = None
    host: str | None = None

    def __enter__(self) -> Session:
        if not self.cookies:
            self.cookies = cookies_of(ask(self.address, "/_stcore/health"))
        self.opened = connect(
            f"{self.address.replace('http', 'ws')}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit"), Subprotocol(self.cookies.get("_streamlit_xsrf", "none"))],
            additional_headers={"Cookie": self.cookie_header, **({"Host": self.host} if self.host else {})},
            origin=Origin(self.origin or self.address),
            max_size=None,
            compression=None,
            open_timeout=30,
        )
        self.line: ClientConnection = self.opened.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.__exit__(None, None, None)

    @property
    def cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def run(self, query: str = "") -> list[ForwardMsg]:
        """Run the page; everything that it said until it was done. The session's own name is noted."""
        message = BackMsg()
        message.rerun_script.query_string = query
        self.line.send(message.SerializeToString())
        heard = []
        while not heard or heard[-1].WhichOneof("type") != "script_finished":
            heard.append(self.hear())
            if heard[-1].WhichOneof("type") == "new_session":
                self.name = heard[-1].new_session.initialize.session_id
        return heard

    def hear(self) -> ForwardMsg:
        content = self.line.recv(timeout=120)
        assert isinstance(content, bytes)
        return ForwardMsg.FromString(content)

    def announce(self, *names: str) -> list[str]:
        """Ask for places to send files to; their paths."""
        message = BackMsg()
        message.file_urls_request.request_id = "r"
        message.file_urls_request.file_names.extend(names)
        message.file_urls_request.session_id = self.name
        self.line.send(message.SerializeToString())
        while (heard := self.hear()).WhichOneof("type") != "file_urls_response":
            pass
        return [urls.upload_url for urls in heard.file_urls_response.file_urls]

    def put(self, path: str, content: bytes, **headers: str) -> Answer:
        """Send a file as the page does."""
        edge = "------edge"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="f"; filename="f.off"\r\n\r\n'.encode()
        body = head + content + f"\r\n--{edge}--\r\n".encode()
        return ask(
            self.address,
            path,
            "PUT",
            {
                "Content-Type": f"multipart/form-data; boundary={edge}",
                "X-Xsrftoken": self.cookies["_streamlit_xsrf"],
                "Cookie": self.cookie_header,
                **headers,
            },
            body,
        )
