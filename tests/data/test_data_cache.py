"""The cache: what comes out is what went in, and no state of the disk is fatal."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tpc_core.data import cache
from tpc_core.data.cache import cached_points, write_atomically
from tpc_core.data.shape import OrderedPoints


def made() -> OrderedPoints:
    points = np.arange(60, dtype=np.float32).reshape(20, 3)
    return OrderedPoints(points, np.arange(20, dtype=np.int64))


def never() -> OrderedPoints:
    raise AssertionError("the cache should have known this")


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_second_call_reads_what_the_first_one_wrote(own_cache: Path) -> None:
    cached_points(("a",), made)
    again = cached_points(("a",), never)
    assert np.array_equal(again.points, made().points)
    assert again.parts is not None
    assert np.array_equal(again.parts, made().parts)
    assert [path.suffix for path in entries(own_cache)] == [".npz"]


def test_other_content_and_other_settings_are_other_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    cached_points(("a",), made)
    with pytest.raises(AssertionError):
        cached_points(("b",), never)
    monkeypatch.setattr(cache, "SURFACE_SAMPLES", 5000)
    with pytest.raises(AssertionError):
        cached_points(("a",), never)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", None])
def test_a_damaged_entry_is_made_again(own_cache: Path, damage: bytes | None) -> None:
    cached_points(("a",), made)
    (path,) = entries(own_cache)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(bytes(content) if damage is None else damage)
    assert np.array_equal(cached_points(("a",), made).points, made().points)
    assert np.array_equal(cached_points(("a",), never).points, made().points)


def test_an_entry_that_holds_something_else_is_made_again(own_cache: Path) -> None:
    cached_points(("a",), made)
    (path,) = entries(own_cache)
    np.savez(path, points=np.full((20, 3), np.nan, dtype=np.float32))
    assert np.isfinite(cached_points(("a",), made).points).all()


def test_a_cache_that_cannot_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("TPC_CACHE", str(blocked))
    assert len(cached_points(("a",), made)) == 20


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "entry"
    write_atomically(path, b"old")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_cache_lies_where_the_platform_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TPC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.cache_folder() == tmp_path / "tpc-explorer"
