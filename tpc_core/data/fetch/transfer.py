"""Download a large file over a line that may drop: resume, then check every byte."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tpc_core.data.cache import write_atomically
from tpc_core.data.fetch.progress import Progress, silent
from tpc_core.errors import InvalidFile, InvalidValue

MAX_ARCHIVE_BYTES = 16 * 2**30
CHUNK_BYTES = 2**20
TIMEOUT_SECONDS = 30.0
FRUITLESS_ATTEMPTS = 5
"""Attempts in a row that brought no new byte before we give up."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress = silent,
    pause_seconds: float = 1.0,
) -> str:
    """Fetch the URL into the target file and return its sha256.

    What arrived of an earlier attempt is kept beside it as `.part` and is continued. The checksum is compared
    with `sha256` if given, else with the one recorded beside the file at the first download.
    """
    _check_request(url, sha256)
    expected = sha256 or _recorded(target)
    if not target.exists():
        part = target.with_name(target.name + ".part")
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidFile(f"{part.parent} cannot be written: {error.strerror}") from error
        _fill(url, part, progress, pause_seconds)
        # Compared before the rename: a wrong file never bears the name of the right one.
        _compare(part, expected, discard=True)
        os.replace(part, target)
        _validator_path(part).unlink(missing_ok=True)
    digest = _compare(target, expected, discard=False)
    write_atomically(_record_path(target), f"{digest}  {target.name}\n".encode())
    return digest


def _check_request(url: str, sha256: str | None) -> None:
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise InvalidValue(f"{url} is not an http or https address")
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise InvalidValue("a sha256 is 64 lower-case hexadecimal digits")


def _fill(url: str, part: Path, progress: Progress, pause_seconds: float) -> None:
    """Append to the part file until it is whole, through as many dropped connections as it takes."""
    fruitless = 0
    while True:
        before = _size(part)
        reason = "the connection was closed early"
        try:
            if _attempt(url, part, progress):
                return
        except urllib.error.HTTPError as error:
            # 4xx will not change by asking again, save for "timeout" and "too many requests".
            if error.code < 500 and error.code not in (408, 429):
                raise InvalidFile(f"{url} answered {error.code} {error.reason}") from error
            reason = f"the server answered {error.code}"
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
        fruitless = 0 if _size(part) > before else fruitless + 1
        if fruitless >= FRUITLESS_ATTEMPTS:
            raise InvalidFile(
                f"{url} stopped at {_size(part):,} bytes: {reason}; run the same command to resume"
            )
        time.sleep(pause_seconds * min(2**fruitless, 16))


@dataclass(frozen=True)
class _Body:
    """Where in the file the bytes of an answer belong, and how long the file is."""

    start: int
    total: int | None


def _attempt(url: str, part: Path, progress: Progress) -> bool:
    """One request; True once the part file is whole."""
    have = _size(part)
    validator = _validator(part)
    if have and validator is None:
        # Nothing says that the server still has the same file, so the pieces might not fit together.
        part.unlink()
        have = 0
    headers = {"User-Agent": "tpc-explorer", "Accept-Encoding": "identity"}
    if have and validator is not None:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}
    try:
        answer = _opener().open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:
            raise
        # Nothing lies beyond what we have: it was whole already, or it is not a piece of this file.
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return True
        part.unlink()
        return False
    with contextlib.closing(answer):
        body = _placed(answer, have, url)
        if body.total is not None and body.total > MAX_ARCHIVE_BYTES:
            raise InvalidFile(f"{url} has {body.total:,} bytes, more than {MAX_ARCHIVE_BYTES:,}")
        _remember_validator(part, answer.headers)
        done = _append(answer, part, body, url, progress)
    return body.total is None or done == body.total


def _placed(answer: http.client.HTTPResponse, have: int, url: str) -> _Body:
    """Read off the answer whether it continues our part file or starts afresh."""
    if answer.status == 206:
        found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != have:
            raise InvalidFile(f"{url} answered with another range than was asked for")
        return _Body(have, None if found[3] == "*" else int(found[3]))
    length = answer.headers.get("Content-Length", "")
    return _Body(0, int(length) if length.isdecimal() else None)


def _append(answer: http.client.HTTPResponse, part: Path, body: _Body, url: str, progress: Progress) -> int:
    """Write the answer at its place; returns the size of the part file afterwards."""
    done = body.start
    with part.open("r+b" if body.start else "wb") as stream:
        stream.seek(body.start)
        stream.truncate()
        progress(done, body.total)
        while chunk := answer.read(CHUNK_BYTES):
            done += len(chunk)
            if done > (MAX_ARCHIVE_BYTES if body.total is None else body.total):
                raise InvalidFile(f"{url} sends more bytes than it announced")
            stream.write(chunk)
            progress(done, body.total)
        stream.flush()
        os.fsync(stream.fileno())
    return done


def _opener() -> urllib.request.OpenerDirector:
    """An opener that knows http and https only, so that no redirect can lead to a local file."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _validator_path(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _validator(part: Path) -> str | None:
    """What the server called the version of the file that the part belongs to."""
    try:
        return _validator_path(part).read_text("ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _remember_validator(part: Path, headers: http.client.HTTPMessage) -> None:
    tag = headers.get("ETag", "")
    # A weak tag only promises an equivalent file, not the same bytes.
    chosen = tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")
    write_atomically(_validator_path(part), chosen.encode("ascii", "ignore"))


def _record_path(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _recorded(target: Path) -> str | None:
    """The checksum written down at an earlier download."""
    try:
        words = _record_path(target).read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return None
    return words[0] if words and _SHA256.fullmatch(words[0]) else None


def _compare(path: Path, expected: str | None, *, discard: bool) -> str:
    """The sha256 of the file, compared with the expected one."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    if expected is not None and digest.hexdigest() != expected:
        if discard:
            path.unlink()
        raise InvalidFile(f"{path.name} has the sha256 {digest.hexdigest()}, not the expected {expected}")
    return digest.hexdigest()
