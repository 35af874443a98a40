"""Check tables of URLs against robots.txt, with the program robotsbatch.

>>> import pyarrow as pa, robotsbatch
>>> frontier = pa.table({"url": ["https://example.com/", "https://example.com/a"]})
>>> robotsbatch.evaluate(frontier, rules="robots", agents="CCBot")["allowed"].to_pylist()
[True, False]

Each call starts the program as a child process, which ends with the call. Nothing is
loaded into the interpreter. If the program fails, its message is the text of the
exception.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, Unpack, overload

from robotsbatch._bin import find_robotsbatch_bin
from robotsbatch._errors import LOGGING, RobotsbatchError, RobotsbatchWarning, UsageError, end, failed, failure, plainly, warn
from robotsbatch._options import Command, ExplainOptions, LintOptions, Options, Path, RuleOptions, SurveyOptions, SurveyRow, command

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ExplainOptions",
    "Explanation",
    "LintOptions",
    "Options",
    "RobotsbatchError",
    "RobotsbatchWarning",
    "RuleOptions",
    "SurveyOptions",
    "SurveyRow",
    "UsageError",
    "compile",
    "evaluate",
    "explain",
    "find_robotsbatch_bin",
    "lint",
    "reader",
    "survey",
]

Data = TypeVar("Data")
Made = TypeVar("Made", covariant=True)


class Series(Protocol[Made]):
    """A series of pandas or Polars, which makes a data frame."""

    def to_frame(self, name: Any = ...) -> Made: ...


# Each needs a package of its name, so it is imported when it is asked for.
_ADAPTERS = ("datatrove", "duckdb", "polars", "ray", "spark")

try:
    __version__ = importlib.metadata.version("robotsbatch")
except importlib.metadata.PackageNotFoundError:  # it runs from its source
    __version__ = "0+source"


def __getattr__(name: str) -> Any:
    if name in _ADAPTERS:
        return importlib.import_module(f"robotsbatch.{name}")
    raise AttributeError(f"module 'robotsbatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ADAPTERS, "__version__"]


@overload
def evaluate(data: Series[Made], **options: Unpack[Options]) -> Made: ...
@overload
def evaluate(data: list[str] | tuple[str, ...] | set[str], **options: Unpack[Options]) -> pa.Table: ...
@overload
def evaluate(data: Data, **options: Unpack[Options]) -> Data: ...
@plainly
def evaluate(data: Any, **options: Unpack[Options]) -> Any:
    """Return data with verdict columns added, and the rows in the same order.

    Args:
        data: a pyarrow Table, RecordBatch or RecordBatchReader, or a pandas or Polars
            data frame. The result has the same type. A RecordBatchReader and a
            pyarrow.dataset stream, like reader(), and a Polars LazyFrame is evaluated when
            it is collected. A list or set of URLs, a dataset of Hugging Face, and anything
            else with ``__arrow_c_stream__`` give a Table, and a series gives a data frame.
        options: ``rules=`` and the others that ``help(Options)`` describes.

    Only the column of URLs is sent to the program. All processors are used unless
    ``workers=`` is given. In pandas the verdict columns have Arrow types.

    Raises:
        UsageError: an option, the rules or the columns are wrong.
        RobotsbatchError: the program failed.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"url": ["https://example.com/a", "mailto:a@example.com"]}, index=[7, 9])
    >>> evaluate(frame, rules="robots", explain=True)[["allowed", "reason"]]
      allowed         reason
    7   False  disallow_rule
    9    <NA>    invalid_url

    Rules can be given as texts, and ``emit=`` selects rows:

    >>> rules = {"example.com": "User-agent: *\\nDisallow: /a"}
    >>> list(evaluate(frame, rules=rules, emit="denied").index)
    [7]
    """
    from robotsbatch import _tables

    return _tables.evaluate(data, **options)


@plainly
def reader(data: Any, **options: Unpack[Options]) -> pa.RecordBatchReader:
    """Return a stream of data with verdict columns added, batch by batch.

    Args:
        data: a pyarrow RecordBatchReader or dataset, or anything with ``__arrow_c_stream__``.
        options: ``rules=`` and the others that ``help(Options)`` describes.

    A batch is read from data only after the previous answer was taken, so one batch is in
    memory. With ``workers=`` 2 or more, data is read that many batches ahead. Dropping the
    stream early ends the program.

    Raises:
        UsageError, RobotsbatchError: as in evaluate, but also while the stream is read.

    >>> import pyarrow as pa
    >>> frontier = pa.table({"url": ["https://example.com/", "https://example.com/a"]})
    >>> for batch in reader(frontier, rules="robots", agents=["CCBot", "GPTBot"]):
    ...     print(batch.column_names, batch.num_rows)
    ['url', 'allowed_ccbot', 'allowed_gptbot'] 2
    """
    from robotsbatch import _tables

    return _tables.reader(data, **options)


@plainly
def compile(out: Path, *, partitions: int | None = None, **options: Unpack[RuleOptions]) -> None:
    """Make a rule pack from robots.txt files or captures.

    A pack has the rules for all agents, so there is no ``agents=``. ``partitions=N`` makes N
    packs, divided by scheme, host and port, with names like ``site-00003-of-00016.rules``.

    >>> compile("site.rules", rules="robots")
    """
    if str(out) == "-":
        raise UsageError("out='-' is stdout: give the name of a file")
    with command("compile", options, RuleOptions) as made:
        parts = [] if partitions is None else ["-partitions", str(partitions)]
        _run(made, ["-out", str(out), *parts, "-quiet"])


class Explanation(NamedTuple):
    """Why a URL has its verdict: ``allowed`` and the program's explanation, ``text``.

    ``allowed`` is None without a verdict; with several agents it is the worst of their
    verdicts."""

    allowed: bool | None
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:  # for a notebook
        return self.text


@overload
def explain(url: str, **options: Unpack[ExplainOptions]) -> Explanation: ...
@overload
def explain(url: Sequence[str], **options: Unpack[ExplainOptions]) -> pa.Table: ...
@plainly
def explain(url: str | Sequence[str], **options: Unpack[ExplainOptions]) -> Explanation | pa.Table:
    """Explain which rule of which file decides about a URL, or about a few URLs.

    A list of URLs gives a pyarrow Table with a row for each URL and agent. For many URLs,
    ``evaluate`` with ``explain=True`` is faster.

    >>> why = explain("https://example.com/a?b=c", rules="robots", agents="CCBot")
    >>> why.allowed
    False
    >>> "Disallow: /a" in why.text
    True
    >>> explain(["https://example.com/", "https://example.com/a"], rules="robots")["rule"].to_pylist()
    [None, 'Disallow: /a']
    """
    with command("explain", options, ExplainOptions) as made:
        if isinstance(url, str):
            done = _run(made, ["--", url], ok=(0, 1, 2))
            text = done.stdout.decode()
            if done.returncode == 2 and (not text or failed(done.stderr)):
                raise failure(2, done.stderr, "robotsbatch explain", made.word)
            return Explanation({0: True, 1: False}.get(done.returncode), text)
        if not url:
            return _explained(b"")
        done = _run(made, ["-json", "--", *url], ok=(0, 1, 2))
        if done.returncode == 2 and (not done.stdout or failed(done.stderr)):
            raise failure(2, done.stderr, "robotsbatch explain", made.word)
        return _explained(done.stdout)


def _explained(lines: bytes) -> pa.Table:
    import pyarrow as pa

    rows = []
    for line in lines.splitlines():
        why = json.loads(line)
        for agent in why["agents"]:
            rule, group = agent.get("rule") or {}, agent.get("group") or {}
            row = {"url": why["url"], "agent": agent["agent"], "allowed": agent.get("allowed"), "reason": agent["reason"]}
            row |= {"rule": rule.get("text"), "rule_line": rule.get("line"), "group": group.get("name"), "file": why.get("file")}
            rows.append(row)
    text = pa.string()
    fields = [("url", text), ("agent", text), ("allowed", pa.bool_()), ("reason", text), ("rule", text), ("rule_line", pa.int32())]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("group", text), ("file", text)]))


@plainly
def survey(**options: Unpack[SurveyOptions]) -> pa.Table:
    """Return how much of each site the rules deny to each agent, as a pyarrow Table.

    The table has a row for each site and agent, with the columns of SurveyRow. ``history=True`` adds since when;
    ``changes=True`` gives a row for each change instead.

    >>> table = survey(rules="robots", agents=["CCBot", "GPTBot"])
    >>> table.select(["authority", "agent", "blocked"]).to_pylist()[1]
    {'authority': 'http://example.com', 'agent': 'GPTBot', 'blocked': 'all'}
    """
    import pyarrow as pa

    with command("survey", options, SurveyOptions) as made:
        done = _run(made, ["-out", "-", "-out-format", "arrows", "-compression", "none", "-quiet"])
    return pa.ipc.open_stream(done.stdout).read_all()


@plainly
def lint(*sources: Path, **options: Unpack[LintOptions]) -> pa.Table:
    """Return the mistakes in robots.txt files, as a pyarrow Table.

    Args:
        sources: robots.txt files, folders of them named by host, rule packs, captures.
        options: those that ``help(LintOptions)`` describes.

    >>> with open("robots.txt", "w") as file:
    ...     _ = file.write("User-agent: *\\nDisallow: a\\n")
    >>> lint("robots.txt").select(["line", "severity", "code"]).to_pylist()
    [{'line': 2, 'severity': 'error', 'code': 'missing-slash'}]
    """
    import pyarrow as pa

    if not sources:
        raise UsageError("lint needs robots.txt files, folders of them, rule packs or captures")
    with command("lint", options, LintOptions) as made:
        done = _run(made, ["-json", "-quiet", "-fail-on", "never", "--", *map(str, sources)])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    fields = [("file", pa.string()), ("line", pa.int32()), ("column", pa.int32()), ("severity", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("code", pa.string()), ("message", pa.string())]))


def _run(made: Command, more: Sequence[str], ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[bytes]:
    program, name, *flags = made.args
    args, pipe = [program, name, *LOGGING, *flags, *more], subprocess.PIPE
    with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as child:
        try:
            done = subprocess.CompletedProcess(args, 0, *child.communicate())
        except BaseException:
            end(child)
            raise
    done.returncode = child.returncode
    if done.returncode not in ok:
        raise failure(done.returncode, done.stderr, f"robotsbatch {name}", made.word)
    warn(done.stderr, made.word)
    return done
