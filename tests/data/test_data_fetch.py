"""Fetching: through a line that drops, against servers that lie, from archives made to harm."""

from __future__ import annotations

import hashlib
import http.server
import io
import stat
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tpc_core.data.fetch import ARCHIVES, download, fetch, unpack_zip
from tpc_core.errors import InvalidFile, InvalidValue, UnknownName

PAYLOAD = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(PAYLOAD).hexdigest()


@dataclass
class Server:
    """A little web server with moods."""

    url: str = ""
    payload: bytes = PAYLOAD
    etag: str = '"one"'
    ranges: bool = True
    drop_after: list[int] = field(default_factory=list)
    """For each coming request: how many bytes to send before the line goes dead."""
    status: list[int] = field(default_factory=list)
    """For each coming request: an error to answer with."""
    seen: list[str | None] = field(default_factory=list)
    """The Range header of each request."""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.seen.append(wanted)
            if state.status:
                self.send_error(state.status.pop(0))
                return
            start = 0
            if wanted and state.ranges and self.headers.get("If-Range") == state.etag:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(state.payload):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(state.payload)}")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(state.payload) - 1}/{len(state.payload)}"
                )
            else:
                self.send_response(200)
            body = state.payload[start:]
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", state.etag)
            self.end_headers()
            self.wfile.write(body[: state.drop_after.pop(0)] if state.drop_after else body)

        def log_message(self, *_: object) -> None:
            pass

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{web.server_address[1]}/archive.zip"
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    yield state
    web.shutdown()
    web.server_close()
    thread.join()


def test_a_whole_file_arrives_and_its_checksum_is_written_down(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "sub" / "archive.zip"
    assert download(server.url, target, pause_seconds=0) == DIGEST
    assert target.read_bytes() == PAYLOAD
    assert (tmp_path / "sub" / "archive.zip.sha256").read_text() == f"{DIGEST}  archive.zip\n"
    assert sorted(path.name for path in target.parent.iterdir()) == ["archive.zip", "archive.zip.sha256"]


def test_a_dropped_connection_is_resumed_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.drop_after = [len(PAYLOAD) // 2, 1000]
    target = tmp_path / "archive.zip"
    assert download(server.url, target, pause_seconds=0) == DIGEST
    assert target.read_bytes() == PAYLOAD
    half = len(PAYLOAD) // 2
    assert server.seen == [None, f"bytes={half}-", f"bytes={half + 1000}-"]


def test_a_later_run_goes_on_where_the_last_one_ended(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "archive.zip"
    server.drop_after = [5000, 0, 0, 0, 0, 0]
    with pytest.raises(InvalidFile, match="resume"):
        download(server.url, target, pause_seconds=0)
    assert not target.exists()
    assert download(server.url, target, pause_seconds=0) == DIGEST
    assert server.seen[-1] == "bytes=5000-"


def test_pieces_of_two_versions_are_never_joined(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "archive.zip"
    server.drop_after = [5000, 0, 0, 0, 0, 0]
    with pytest.raises(InvalidFile):
        download(server.url, target, pause_seconds=0)
    server.payload, server.etag = PAYLOAD[::-1], '"two"'
    assert download(server.url, target, pause_seconds=0) == hashlib.sha256(PAYLOAD[::-1]).hexdigest()


def test_a_server_that_cannot_resume_starts_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.drop_after = [5000]
    assert download(server.url, tmp_path / "archive.zip", pause_seconds=0) == DIGEST


def test_a_part_that_was_whole_already_is_accepted(server: Server, tmp_path: Path) -> None:
    (tmp_path / "archive.zip.part").write_bytes(PAYLOAD)
    (tmp_path / "archive.zip.part.etag").write_text('"one"')
    assert download(server.url, tmp_path / "archive.zip", pause_seconds=0) == DIGEST
    assert server.seen == [f"bytes={len(PAYLOAD)}-"]


def test_a_busy_server_is_asked_again_and_a_missing_file_is_not(server: Server, tmp_path: Path) -> None:
    server.status = [503, 500]
    assert download(server.url, tmp_path / "a.zip", pause_seconds=0) == DIGEST
    server.status = [404]
    with pytest.raises(InvalidFile, match="404"):
        download(server.url, tmp_path / "b.zip", pause_seconds=0)
    assert len(server.seen) == 4


def test_a_wrong_checksum_never_gets_the_name(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="expected"):
        download(server.url, tmp_path / "archive.zip", sha256="0" * 64, pause_seconds=0)
    assert not (tmp_path / "archive.zip").exists()


def test_the_next_run_compares_with_the_first(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "archive.zip"
    download(server.url, target, pause_seconds=0)
    download(server.url, target, pause_seconds=0)
    assert len(server.seen) == 1
    target.write_bytes(PAYLOAD[:-1] + b"x")
    with pytest.raises(InvalidFile, match="expected"):
        download(server.url, target, pause_seconds=0)
    target.unlink()
    server.payload = PAYLOAD + b"more"
    with pytest.raises(InvalidFile, match="expected"):
        download(server.url, target, pause_seconds=0)


def test_nobody_listening_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="stopped at 0 bytes"):
        download("http://127.0.0.1:9/archive.zip", tmp_path / "archive.zip", pause_seconds=0)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "archive.zip", ""])
def test_only_web_addresses_are_opened(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidValue):
        download(url, tmp_path / "x")


def test_progress_ends_at_the_total(server: Server, tmp_path: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    download(
        server.url, tmp_path / "a", progress=lambda done, total: steps.append((done, total)), pause_seconds=0
    )
    assert steps[-1] == (len(PAYLOAD), len(PAYLOAD))
    assert steps == sorted(steps)


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_good_archive_is_unpacked_without_leftovers(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "a.zip", {"set/a/1.off": b"one", "__MACOSX/set/._1.off": b"x", "set/.DS_Store": b"x"}
    )
    place = unpack_zip(archive, tmp_path / "out", "set")
    assert [str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()] == ["a/1.off"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["set"]


HARMFUL = [
    "../evil",
    "set/../../evil",
    "/evil",
    "set/..",
    "C:/evil",
    "..\\evil",
    "set\\..\\..\\evil",
    "other/file",
]


@pytest.mark.parametrize("name", HARMFUL)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "a.zip", {"set/good": b"x", name: b"evil"})
    with pytest.raises(InvalidFile):
        unpack_zip(archive, tmp_path / "out", "set")
    assert list((tmp_path / "out").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "out"]


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path: Path, mode: int) -> None:
    entry = zipfile.ZipInfo("set/link")
    entry.external_attr = (mode | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InvalidFile, match="link or a device"):
        unpack_zip(tmp_path / "a.zip", tmp_path / "out", "set")


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"set/zeros": b"\0" * 10_000_000})
    with pytest.raises(InvalidFile, match="unpacks to"):
        unpack_zip(archive, tmp_path / "out", "set", max_bytes=1_000_000)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"set/a": b"1", "set/A": b"2"})
    with pytest.raises(InvalidFile, match="twice"):
        unpack_zip(archive, tmp_path / "out", "set")


def test_a_flipped_bit_is_noticed_and_nothing_stays(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as opened:
        opened.writestr("set/file", b"A" * 1000)
    content = bytearray(archive.read_bytes())
    content[content.index(b"AAAA") + 500] ^= 1
    archive.write_bytes(bytes(content))
    with pytest.raises(InvalidFile, match="damaged"):
        unpack_zip(archive, tmp_path / "out", "set")
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_not_a_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"<html>not found</html>")
    with pytest.raises(InvalidFile, match="damaged"):
        unpack_zip(tmp_path / "a.zip", tmp_path / "out", "set")


def test_fetch_goes_all_the_way_and_the_second_time_does_nothing(server: Server, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("ModelNet40/airplane/test/airplane_0001.off", "OFF\n0 0 0\n")
    server.payload = stream.getvalue()
    fetched = fetch("modelnet40", tmp_path, url=server.url)
    assert fetched.folder == tmp_path / "ModelNet40"
    assert (fetched.folder / "airplane" / "test" / "airplane_0001.off").is_file()
    assert fetch("modelnet40", tmp_path, url=server.url) == fetched
    assert len(server.seen) == 1


def test_only_known_data_sets_are_fetched(tmp_path: Path) -> None:
    assert sorted(ARCHIVES) == ["modelnet40", "shapenetpart"]
    with pytest.raises(UnknownName):
        fetch("imagenet", tmp_path)
