"""What many visitors leave behind is bounded: their files share one limit, and those who are gone are forgotten."""

from __future__ import annotations

import numpy as np
import pytest

import app.server.visitors
from app.server.visitors import Visitors
from app.session.uploads import Uploads, size_of
from tpc_core.data import Shape
from tpc_core.data.ordered import OrderedPoints


def shape(name: str, points: int = 100) -> Shape:
    scattered = np.random.default_rng(points).normal(size=(points, 3)).astype(np.float32)
    return Shape(name, None, None, OrderedPoints(scattered))


def test_the_files_of_all_visitors_share_one_limit_and_the_least_looked_at_makes_room() -> None:
    room = 5 * size_of(shape("any"))
    store = Uploads(kept=4, together=room)
    specs = {name: store.put(name, name.encode(), shape(name)) for name in "abcde"}
    assert store.get("a", specs["a"]) is not None  # looked at just now
    specs["f"] = store.put("f", b"f", shape("f"))
    kept = {name for name, spec in specs.items() if store.get(name, spec) is not None}
    assert kept == set("acdef")


def test_a_file_larger_than_all_room_is_kept_alone() -> None:
    store = Uploads(together=10)
    first = store.put("a", b"1", shape("small"))
    large = store.put("b", b"2", shape("large", 1000))
    assert store.get("b", large) is not None
    assert store.get("a", first) is None


def test_one_visitor_cannot_push_out_the_files_of_others_by_number() -> None:
    store = Uploads(kept=2)
    other = store.put("other", b"x", shape("x"))
    mine = [store.put("me", bytes([number]), shape(str(number))) for number in range(10)]
    assert store.get("other", other) is not None
    assert [store.get("me", spec) is not None for spec in mine] == [False] * 8 + [True] * 2


def test_who_holds_most_makes_room_so_that_nobody_pushes_out_the_class() -> None:
    one = size_of(shape("any"))
    store = Uploads(kept=4, together=6 * one)
    class_ = {name: store.put(name, name.encode(), shape(name)) for name in "abc"}
    mine = [store.put("greedy", bytes([number]), shape("large", 200)) for number in range(4)]
    assert all(store.get(name, spec) is not None for name, spec in class_.items())
    assert [store.get("greedy", spec) is not None for spec in mine] == [False, False, False, True]


def test_nobody_finds_the_file_of_another_even_with_its_name() -> None:
    store = Uploads()
    spec = store.put("owner", b"secret", shape("secret"))
    assert store.get("stranger", spec) is None
    assert store.get("owner", spec) is not None


class Runtime:
    """Streamlit's runtime, as far as it is asked here."""

    def __init__(self) -> None:
        self.active: set[str] = set()

    def is_active_session(self, session: str) -> bool:
        return session in self.active


def test_the_register_forgets_visitors_who_are_gone_and_keeps_those_who_reload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime, now = Runtime(), [1000.0]
    monkeypatch.setattr(app.server.visitors, "exists", lambda: True)
    monkeypatch.setattr(app.server.visitors, "get_instance", lambda: runtime)
    monkeypatch.setattr(app.server.visitors.time, "monotonic", lambda: now[0])
    register = Visitors()
    for number in range(50):
        register.note(f"visitor-{number}", f"session-{number}")
    register.note("loyal", "tab")
    runtime.active.add("tab")
    now[0] += 60
    register.sweep()
    assert register.about("visitor-7")  # a reload may still come
    now[0] += 3600
    register.sweep()
    assert not register.about("visitor-7")
    assert register.about("loyal")
    assert set(register._sessions) == set(register._seen) == {"loyal"}
