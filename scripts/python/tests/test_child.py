"""The program as a child: how it ends, and what it says when it fails."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import children

import robotsbatch

BATCH = pa.record_batch({"url": ["https://example.com/a"] * 1000})


def endless() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            yield BATCH

    return pa.RecordBatchReader.from_batches(BATCH.schema, batches())


def child() -> int:
    """The process id of the only child that runs."""
    [pid] = [
        int(pid)
        for task in Path("/proc/self/task").glob("*/children")
        for pid in task.read_text().split()
        if "pipe" in Path("/proc", pid, "cmdline").read_text()
    ]
    return pid


def test_errors_carry_the_line() -> None:
    with pytest.raises(robotsbatch.RobotsbatchError, match="^robotsbatch: .*nowhere") as caught:
        robotsbatch.evaluate(pa.table({"url": ["a"]}), rules="nowhere")
    assert caught.value.status == 1
    with pytest.raises(robotsbatch.UsageError, match="-profile"):
        robotsbatch.evaluate(pa.table({"url": ["a"]}), rules="robots", profile="bing")  # type: ignore[arg-type]
    with pytest.raises(robotsbatch.RobotsbatchError, match="there is no column \"link\""):
        robotsbatch.evaluate(pa.table({"url": ["a"]}), rules="robots", url_column="link")
    with pytest.raises(TypeError, match="there is no option agent;"):
        robotsbatch.evaluate(pa.table({"url": ["a"]}), rules="robots", agent="CCBot")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="rules= is missing"):
        robotsbatch.evaluate(pa.table({"url": ["a"]}))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="not list"):
        robotsbatch.evaluate(["https://example.com/"], rules="robots")


def test_a_batch_beyond_memory_is_an_error() -> None:
    big = pa.record_batch({"url": ["https://example.com/" + "a" * 1000] * 100_000})
    for workers in (1, 3):
        stream = pa.RecordBatchReader.from_batches(big.schema, [BATCH, big, BATCH])
        with pytest.raises(robotsbatch.RobotsbatchError, match="memory"):
            robotsbatch.reader(stream, rules="robots", memory="16MiB", workers=workers).read_all()


@pytest.mark.parametrize("workers", [1, 4])
def test_a_consumer_that_stops_early(workers: int) -> None:
    stream = robotsbatch.reader(endless(), rules="robots", workers=workers)
    assert stream.read_next_batch().num_rows == 1000
    assert children()
    del stream
    assert not children()


def test_a_stream_that_nobody_reads() -> None:
    stream = robotsbatch.reader(endless(), rules="robots")
    assert children()
    del stream
    assert not children()


@pytest.mark.parametrize("workers", [1, 4])
def test_a_source_that_fails(workers: int) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield BATCH
        yield BATCH
        raise LookupError("no more")

    stream = pa.RecordBatchReader.from_batches(BATCH.schema, batches())
    with pytest.raises(LookupError, match="no more"):
        robotsbatch.reader(stream, rules="robots", workers=workers).read_all()


@pytest.mark.parametrize("workers", [1, 4])
def test_a_child_that_is_killed(workers: int) -> None:
    stream = robotsbatch.reader(endless(), rules="robots", workers=workers)
    stream.read_next_batch()
    os.kill(child(), signal.SIGKILL)
    with pytest.raises(robotsbatch.RobotsbatchError, match="was killed by SIGKILL") as caught:
        for _ in stream:
            pass
    assert caught.value.status == -signal.SIGKILL


@pytest.mark.parametrize("workers", [1, 4])
def test_ctrl_c_ends_the_child(workers: int) -> None:
    # What starts tests in the background may have had SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stream = robotsbatch.reader(endless(), rules="robots", workers=workers)
    stream.read_next_batch()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in stream:
            pass
    del stream
    signal.signal(signal.SIGINT, before)
    assert not children()


def test_a_fork_does_not_touch_the_child() -> None:
    stream = robotsbatch.reader(endless(), rules="robots")
    stream.read_next_batch()
    pid = os.fork()
    if pid == 0:
        del stream  # what ends a child in the process that started it
        os._exit(robotsbatch.evaluate(BATCH, rules="robots").num_rows != 1000)
    assert os.waitpid(pid, 0)[1] == 0
    assert stream.read_next_batch().num_rows == 1000


def _rows(_: int) -> int:
    return int(robotsbatch.evaluate(BATCH, rules="robots").num_rows)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_rows, range(4)) == [1000] * 4


def test_nothing_outlives_a_killed_parent() -> None:
    script = """
import sys, pyarrow as pa, robotsbatch
batch = pa.record_batch({"url": ["https://example.com/a"]})
stream = robotsbatch.reader(pa.Table.from_batches([batch] * 3), rules="robots")
stream.read_next_batch()
print(stream.schema.names, flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin and parent.stdout and parent.stdout.readline()
    [grandchild] = [int(pid) for pid in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()]
    parent.kill()
    parent.communicate()
    while _runs(grandchild):  # the test runner's own limit of time applies
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_python_m() -> None:
    done = subprocess.run([sys.executable, "-m", "robotsbatch", "version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("robotsbatch ")
    assert subprocess.run([sys.executable, "-m", "robotsbatch", "-nosuch"], capture_output=True).returncode == 2


def test_compile_and_explain() -> None:
    robotsbatch.compile("site.rules", rules=["robots"])
    assert robotsbatch.evaluate(pa.table({"url": ["https://example.com/a"]}), rules=Path("site.rules"))["allowed"].to_pylist() == [False]
    assert robotsbatch.explain("https://example.com/", rules="site.rules").allowed is True
    assert robotsbatch.explain("https://example.com/", rules="site.rules", agents=["CCBot", "GPTBot"]).allowed is False
    assert robotsbatch.explain("mailto:a", rules="site.rules").allowed is None
    with pytest.raises(robotsbatch.UsageError, match="nowhere"):
        robotsbatch.explain("https://example.com/", rules="nowhere")
    with pytest.raises(robotsbatch.RobotsbatchError, match="nowhere"):
        robotsbatch.compile("nowhere/site.rules", rules="robots")


def test_the_binary_that_is_named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    binary = robotsbatch.find_robotsbatch_bin()
    monkeypatch.setenv("ROBOTSBATCH_BIN", str(folder / "other"))
    with pytest.raises(FileNotFoundError, match="ROBOTSBATCH_BIN names"):
        robotsbatch.find_robotsbatch_bin()
    (folder / "other").symlink_to(binary)
    assert robotsbatch.find_robotsbatch_bin() == str(folder / "other")
