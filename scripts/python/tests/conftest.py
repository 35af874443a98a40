"""Rules for the tests, which run in a folder that has them as the examples name them."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROBOTS = """User-agent: *
Disallow: /a
Crawl-delay: 2

User-agent: GPTBot
Disallow: /
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "example.com").write_text(ROBOTS)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not children(), "a child outlived its test"
    assert not [t for t in threading.enumerate() if t.name == "robotsbatch"]


def children() -> list[str]:
    """The programs that run as children of this process (on Linux)."""
    found = []
    for task in Path("/proc/self/task").glob("*/children"):
        for pid in task.read_text().split():
            try:
                if "robotsbatch\0pipe" in (command := Path("/proc", pid, "cmdline").read_text()):
                    found.append(command)
            except OSError:
                pass  # it ended meanwhile
    return found


def child() -> int:
    """The process id of the only child that runs."""
    [pid] = [
        int(pid)
        for task in Path("/proc/self/task").glob("*/children")
        for pid in task.read_text().split()
        if "pipe" in Path("/proc", pid, "cmdline").read_text()
    ]
    return pid
