"""The program as a child: how it ends, and what it says when it fails."""

import gc
import multiprocessing
import os
import pydoc
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import child, children

import robotsbatch

BATCH = pa.record_batch({"url": ["https://example.com/a"] * 1000})


def endless() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            yield BATCH

    return pa.RecordBatchReader.from_batches(BATCH.schema, batches())


def test_errors_carry_the_line() -> None:
    table = pa.table({"url": ["a"]})
    with pytest.raises(robotsbatch.RobotsbatchError, match="^rules='nowhere': no such file or directory$") as caught:
        robotsbatch.evaluate(table, rules="nowhere")
    assert caught.value.status == 1
    with pytest.raises(robotsbatch.RobotsbatchError, match="there is no column \"link\""):
        robotsbatch.evaluate(table, rules="robots", url_column="link")
    with pytest.raises(TypeError, match="there is no option agnts; did you mean agents\\?"):
        robotsbatch.evaluate(table, rules="robots", agnts="CCBot")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="agent= and agents= are the same"):
        robotsbatch.evaluate(table, rules="robots", agent="CCBot", agents="CCBot")
    with pytest.raises(TypeError, match="rules= is missing"):
        robotsbatch.evaluate(table)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="not int"):
        robotsbatch.evaluate(7, rules="robots")
    with pytest.raises(robotsbatch.UsageError, match="explain\\(\\) is for one URL"):
        robotsbatch.evaluate("https://example.com/", rules="robots")
    Path("empty").mkdir()
    with pytest.raises(robotsbatch.RobotsbatchError, match=r"allow_no_rules=True goes on$"):
        robotsbatch.evaluate(table, rules="empty")


def test_a_failure_is_one_sentence() -> None:
    """A traceback has the line of the caller and the message, and nothing of the pipe."""
    calls: list[Callable[[], object]] = [
        lambda: robotsbatch.evaluate(BATCH, rules="nowhere"),
        lambda: robotsbatch.evaluate(BATCH, rules="robots", agnts=1),  # type: ignore[call-overload]
        lambda: robotsbatch.explain("https://example.com/", rules="nowhere"),
        lambda: robotsbatch.survey(rules="nowhere", agents="CCBot"),
    ]
    for call in calls:
        with pytest.raises(robotsbatch.RobotsbatchError) as caught:
            call()
        said = traceback.format_exception(caught.value)
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 3 and len(said) == 5 and said[-1].startswith("robotsbatch."), said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "bing"}, "^profile='bing': want rfc9309 or google$"),
        ({"workers": 0}, "^workers='0': want a number"),
        ({"agents": "a b"}, "^agents='a b': agent .* no product token has one: is it ab\\?$"),
        ({"agent": "a b"}, "^agent='a b': agent"),
        ({"agents": [f"b{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(33)]}, "33 agents .* take agents_as='any-denied' .* agents_as='list' .* agents_as='columns'"),
        ({"ever_denied": True}, "assume='before-first' and ever_denied=True are .* as_of='column:NAME'"),
        ({"agents_file": "none.txt"}, "^agents_file: .*none.txt"),
    ],
)
def test_messages_name_options_and_no_flags(options: dict[str, Any], said: str) -> None:
    for call in (robotsbatch.evaluate, robotsbatch.reader):
        with pytest.raises(robotsbatch.RobotsbatchError, match=said) as caught:
            call(pa.table({"url": ["a"]}), rules="robots", **options)
        assert not re.search(r"(?<!\w)-[a-z]", str(caught.value)), caught.value


def test_warnings_of_the_program_are_warnings() -> None:
    table = pa.table({"url": ["https://example.com/"]})
    line = sys._getframe().f_lineno
    with pytest.warns(robotsbatch.RobotsbatchWarning, match="^agents='GPTBott': .*gptbot.*") as caught:
        robotsbatch.evaluate(table, rules="robots", agents="GPTBott")
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line + 2)]
    with pytest.warns(robotsbatch.RobotsbatchWarning) as caught:
        robotsbatch.reader(table, rules="robots", agents="GPTBott").read_all()
        robotsbatch.explain("https://example.com/", rules="robots", agents="GPTBott")
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_options_are_described() -> None:
    from robotsbatch import _options

    for kind in (robotsbatch.Options, robotsbatch.RuleOptions, robotsbatch.ExplainOptions, robotsbatch.SurveyOptions, robotsbatch.LintOptions):
        text = pydoc.plain(pydoc.render_doc(kind))
        for name in kind.__annotations__:
            assert re.search(rf"^ \|      {name}: \S.{{10}}", text, re.MULTILINE), name
    assert "evaluate" in robotsbatch.__all__ and all(hasattr(robotsbatch, name) for name in robotsbatch.__all__)
    assert robotsbatch.__version__
    assert {"evaluate", "polars"} <= set(dir(robotsbatch)) and not {"json", "Any", "warn"} & set(dir(robotsbatch))

    # Each flag of pipe is an option, but for those that are about stderr.
    said = subprocess.run([robotsbatch.find_robotsbatch_bin(), "pipe", "-h"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^  (-[a-z0-9-]+)", said, re.MULTILINE)) - {"-log", "-verbose"}
    assert flags == {_options._flag(option) for option in _options._options(robotsbatch.Options) if option not in _options.OURS}


def test_rules_as_texts() -> None:
    texts: dict[str, str | bytes] = {"github.com": "User-agent: *\nDisallow: /a", "https://example.com": b"User-agent: *\nDisallow: /\xff\n", "a.test:8443": "User-agent: *\nDisallow: /"}
    urls = ["https://github.com/a", "http://github.com/b", "https://example.com/%FF", "http://example.com/%FF", "https://a.test:8443/", "https://a.test/"]
    before = set(Path(tempfile.gettempdir()).glob("robotsbatch.*"))
    done = robotsbatch.evaluate(pa.table({"url": urls}), rules=texts)
    assert done["allowed"].to_pylist() == [False, True, False, True, False, True]
    # Of several the first that knows a host decides.
    several = robotsbatch.evaluate(pa.table({"url": urls}), rules=[{"github.com": ""}, texts])
    assert several["allowed"].to_pylist() == [True, True, False, True, False, True]
    assert robotsbatch.explain(urls[0], rules=texts).allowed is False
    assert robotsbatch.explain(urls[0], rules={"http://github.com/robots.txt": "", "https://github.com/robots.txt": "User-agent: *\nDisallow: /"}).allowed is False
    robotsbatch.compile("texts.rules", rules=texts)
    assert robotsbatch.evaluate(pa.table({"url": urls}), rules="texts.rules").equals(done)
    for wrong in ("../x", "..", "", "a/b", "https://a.test/b/robots.txt", "gopher://a.test", "a b", "a\0", "me@a.test", "a.test?", "a.test#b", ".test", "%61.test"):
        with pytest.raises(ValueError, match="is not a host"):
            robotsbatch.evaluate(pa.table({"url": urls}), rules={wrong: ""})
    with pytest.raises(ValueError, match='has no host: give {"example.com": text}'):
        robotsbatch.evaluate(pa.table({"url": urls}), rules="User-agent: *\nDisallow: /")
    for wrong in ("_a.test", "https___a.test"):
        with pytest.raises(ValueError, match="files of such names are ignored"):
            robotsbatch.evaluate(pa.table({"url": urls}), rules={wrong: ""})
    stream = robotsbatch.reader(endless(), rules=texts)
    stream.read_next_batch()
    pid = os.fork()
    if pid == 0:
        del stream
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert set(Path(tempfile.gettempdir()).glob("robotsbatch.*")) - before, "a forked process removed them"
    del stream
    assert set(Path(tempfile.gettempdir()).glob("robotsbatch.*")) <= before


def test_a_text_of_every_host_counts() -> None:
    """Hosts with names that among files would be something else, and two texts for one host."""
    deny = "User-agent: *\nDisallow: /"
    hosts = ["data.json", "a.txt", "a.gz", "a.zst", "a.rules", "readme", "robots.txt", "http", "a.com.br", "[2001:db8::1]", "b\u00fccher.test", "A.test:81", "a.robots.txt"]
    done = robotsbatch.evaluate([f"https://{host}/" for host in hosts], rules={**dict.fromkeys(hosts, deny), "http://a.test": "", "a.test": ""})
    assert done["allowed"].to_pylist() == [False] * len(hosts)
    for names in (["a.test", "A.test"], ["https://a.test", "https://a.test/robots.txt"]):
        with pytest.raises(ValueError, match="two texts for 'http|two texts for 'A.test'"):
            robotsbatch.evaluate(["https://a.test/"], rules=dict(zip(names, [deny, ""], strict=True)))
    with pytest.raises(ValueError, match="no text for 'a.test', but None"):
        robotsbatch.evaluate(["https://a.test/"], rules={"a.test": None})


def test_texts_of_hosts_with_long_names() -> None:
    """A file's name may have 255 bytes, with its ending, and a host's 253."""
    deny = "User-agent: *\nDisallow: /"
    longest = ".".join(["a" * 63] * 3 + ["b" * 56 + ".test"])
    hosts = [longest[-n:] for n in (243, 244, 245, 253)] + [longest[-249:] + ":81"]
    done = robotsbatch.evaluate([f"https://{host}/" for host in hosts], rules=dict.fromkeys(hosts, deny))
    assert len(longest) == 253 and done["allowed"].to_pylist() == [False] * len(hosts)
    with pytest.raises(robotsbatch.UsageError, match=f"two texts for '{longest}'"):
        robotsbatch.evaluate(["https://a.test/"], rules={longest.upper(): deny, longest: ""})
    for host in (longest + ":8443", "\u00fc" * 128):
        with pytest.raises(robotsbatch.UsageError, match="too long for the name of a file: give the text in a table"):
            robotsbatch.evaluate(["https://a.test/"], rules={host: deny})


def test_options_without_a_value() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    agents: Any
    for agents in (["CCBot", None], pl.Series(["CCBot", None]), pa.array(["CCBot", None]), pd.Series(["CCBot", pd.NA], dtype=object)):
        with pytest.raises(robotsbatch.UsageError, match="^agents= has a null"):
            robotsbatch.evaluate(BATCH, rules="robots", agents=agents)
    for agents in ([], (), pl.Series([]), pa.array([], pa.string()), pd.DataFrame({"agent": []})):
        with pytest.raises(robotsbatch.UsageError, match="^agents= is empty"):
            robotsbatch.evaluate(BATCH, rules="robots", agents=agents)
    for agents in ([b"CCBot"], b"CCBot", [["CCBot"]], [("CCBot",)], {"CCBot": "GPTBot"}, [{"CCBot"}]):
        with pytest.raises(robotsbatch.UsageError, match="^agents=.*CCBot.*: give a text$"):
            robotsbatch.evaluate(BATCH, rules="robots", agents=agents)
    with pytest.raises(robotsbatch.UsageError, match="^robots_limit=True: a value is missing"):
        robotsbatch.evaluate(BATCH, rules="robots", robots_limit=True)
    with pytest.raises(robotsbatch.UsageError, match="^out='-' is stdout"):
        robotsbatch.compile(Path("-"), rules="robots")


def test_survey_lint_explain() -> None:
    table = robotsbatch.survey(rules="robots", agents=["CCBot", "GPTBot"])
    assert table.num_rows == 4 and table["blocked"].to_pylist() == ["some", "all"] * 2
    Path("agents.txt").write_text("CCBot\nGPTBot\n")
    assert robotsbatch.survey(rules="robots", agents_file="agents.txt").equals(table)
    Path("captures.csv").write_text('authority,body,fetched_at\nexample.com,"User-agent: *\nDisallow: /",2026-01-01T00:00:00Z\n')
    assert robotsbatch.survey(rules="captures.csv", agents="CCBot", history=True)["changes"].to_pylist() == [0, 0]
    assert set(robotsbatch.survey(rules="captures.csv", agents="CCBot", history=True).column_names) == set(robotsbatch.SurveyRow.__annotations__)
    Path("robots.txt").write_text("User-agent: *\nDisallow: a\n")
    assert robotsbatch.lint("robots.txt", "robots")["code"].to_pylist() == ["missing-slash"]
    assert robotsbatch.lint("robots.txt", ignore="missing-slash").num_rows == 0
    with pytest.raises(robotsbatch.RobotsbatchError, match="^nowhere: no such file"):
        robotsbatch.lint("nowhere")
    with pytest.raises(robotsbatch.UsageError, match="^least='all': want"):
        robotsbatch.lint("robots.txt", least="all")  # type: ignore[arg-type]
    why = robotsbatch.explain(["https://example.com/a", "https://a.test/"], rules="robots", agents=["CCBot", "GPTBot"])
    assert why.select(["agent", "allowed", "rule", "rule_line"]).to_pylist() == [
        {"agent": "CCBot", "allowed": False, "rule": "Disallow: /a", "rule_line": 2},
        {"agent": "GPTBot", "allowed": False, "rule": "Disallow: /", "rule_line": 6},
        {"agent": "CCBot", "allowed": True, "rule": None, "rule_line": None},
        {"agent": "GPTBot", "allowed": True, "rule": None, "rule_line": None},
    ]
    assert robotsbatch.explain([], rules="robots").num_rows == 0


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


def test_ctrl_c_lets_the_program_clean_up(folder: Path) -> None:
    (folder / "slow").write_text("#!/bin/sh\ntrap 'echo > cleaned; exit 143' TERM\necho > started\nwhile :; do sleep 0.05; done\n")
    (folder / "slow").chmod(0o755)

    def interrupt() -> None:
        while not (folder / "started").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        robotsbatch.compile("site.rules", rules="robots", binary=folder / "slow")
    signal.signal(signal.SIGINT, before)
    assert (folder / "cleaned").exists()


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
    Path("list.txt").write_text("CCBot\nGPTBot\n")
    table = robotsbatch.explain(["https://example.com/"], rules="site.rules", agents_file="list.txt")
    assert table["agent"].to_pylist() == ["CCBot", "GPTBot"] and table["allowed"].to_pylist() == [True, False]
    assert robotsbatch.explain("mailto:a", rules="site.rules").allowed is None
    why = robotsbatch.explain("https://example.com/", rules="site.rules")
    assert repr(why) == why.text
    for call in (
        lambda: robotsbatch.explain("https://example.com/", rules="nowhere"),
        lambda: robotsbatch.explain(["https://example.com/"], rules="nowhere"),
        lambda: robotsbatch.evaluate(pa.table({"url": ["https://example.com/"]}), rules="nowhere"),
        lambda: robotsbatch.survey(rules="nowhere", agents="CCBot"),
        lambda: robotsbatch.lint("nowhere"),
    ):
        with pytest.raises(robotsbatch.RobotsbatchError, match="nowhere") as failed:
            call()
        assert failed.value.status == 1 and not isinstance(failed.value, robotsbatch.UsageError)
    with pytest.raises(robotsbatch.UsageError, match="^agents='A B'"):
        robotsbatch.explain("https://example.com/", rules="robots", agents="A B")
    with pytest.raises(robotsbatch.RobotsbatchError, match="nowhere"):
        robotsbatch.compile("nowhere/site.rules", rules="robots")


def test_explain_of_a_list_is_whole() -> None:
    Path("robots/b.example.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    with pytest.raises(robotsbatch.RobotsbatchError, match="b.example.gz: gzip"):
        robotsbatch.explain(["https://example.com/", "https://b.example/"], rules="robots")


def test_the_binary_that_is_named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    binary = robotsbatch.find_robotsbatch_bin()
    monkeypatch.setenv("ROBOTSBATCH_BIN", str(folder / "other"))
    with pytest.raises(FileNotFoundError, match="ROBOTSBATCH_BIN names"):
        robotsbatch.find_robotsbatch_bin()
    (folder / "other").symlink_to(binary)
    assert robotsbatch.find_robotsbatch_bin() == str(folder / "other")
