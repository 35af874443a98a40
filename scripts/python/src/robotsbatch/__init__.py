"""robots.txt verdicts for tables of URLs, by the program robotsbatch.

>>> import pyarrow as pa, robotsbatch
>>> frontier = pa.table({"url": ["https://example.com/", "https://example.com/a"]})
>>> robotsbatch.evaluate(frontier, rules="robots", agents="CCBot")["allowed"].to_pylist()
[True, False]

Each use starts a child of its own, which ends with it; nothing is loaded into the
interpreter. What the program says when it fails is the text of the exception.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack

from robotsbatch._bin import find_robotsbatch_bin
from robotsbatch._errors import RobotsbatchError, UsageError, failure
from robotsbatch._options import Options, Path, RuleOptions, command

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Explanation",
    "Options",
    "RobotsbatchError",
    "RuleOptions",
    "UsageError",
    "compile",
    "evaluate",
    "explain",
    "find_robotsbatch_bin",
    "reader",
]

Data = TypeVar("Data")


def evaluate(data: Data, **options: Unpack[Options]) -> Data:
    """Return data with the verdict columns, the rows in their order.

    Args:
        data: a pyarrow Table, RecordBatch or RecordBatchReader, a pandas or Polars
            data frame, or anything with ``__arrow_c_stream__``, of which a Table is
            made. The same kind comes back; a RecordBatchReader streams, as of reader.
        options: ``rules=`` and what else ``Options`` has.

    Of a table only the column of URLs is sent to the program, and all processors are
    used unless ``workers=`` is given. In pandas the verdicts have Arrow's types.

    Raises:
        UsageError: an option, the rules or the columns are not as they should be.
        RobotsbatchError: the program failed.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"url": ["https://example.com/a", "mailto:a@example.com"]}, index=[7, 9])
    >>> evaluate(frame, rules="robots", explain=True)[["allowed", "reason"]]
      allowed         reason
    7   False  disallow_rule
    9    <NA>    invalid_url
    """
    from robotsbatch import _tables

    return _tables.evaluate(data, **options)


def reader(data: Any, **options: Unpack[Options]) -> pa.RecordBatchReader:
    """Return a stream of data with the verdict columns, batch by batch.

    Args:
        data: a pyarrow RecordBatchReader, or anything with ``__arrow_c_stream__``.
        options: ``rules=`` and what else ``Options`` has.

    A batch is taken from data when the answer to the last one was taken, so memory is
    that of a batch. With ``workers=`` 2 or more, data is read that many batches ahead.
    Dropping the stream early ends the program.

    Raises:
        UsageError, RobotsbatchError: as evaluate; also while the stream is read.

    >>> import pyarrow as pa
    >>> frontier = pa.table({"url": ["https://example.com/", "https://example.com/a"]})
    >>> for batch in reader(frontier, rules="robots", agents=["CCBot", "GPTBot"]):
    ...     print(batch.column_names, batch.num_rows)
    ['url', 'allowed_ccbot', 'allowed_gptbot'] 2
    """
    from robotsbatch import _tables

    return _tables.reader(data, **options)


def compile(out: Path, *, partitions: int | None = None, **options: Unpack[RuleOptions]) -> None:
    """Make a rule pack of robots.txt files or captures; ``agents=`` is not for it.

    With ``partitions=`` it makes so many, by authority, such as
    ``site-00003-of-00016.rules``.

    >>> compile("site.rules", rules="robots")
    """
    _run(command("compile", {**options, "out": out, "partitions": partitions}) + ["-quiet"])


class Explanation(NamedTuple):
    """Why a URL has its verdict: ``allowed``, None without a verdict and the worst of
    several agents, and the program's text."""

    allowed: bool | None
    text: str

    def __str__(self) -> str:
        return self.text


def explain(url: str, **options: Unpack[RuleOptions]) -> Explanation:
    """Say which rule of which file decides about a URL.

    >>> why = explain("https://example.com/a?b=c", rules="robots", agents="CCBot")
    >>> why.allowed
    False
    >>> "Disallow: /a" in why.text
    True
    """
    done = _run([*command("explain", options), "--", url], ok=(0, 1, 2))
    text = done.stdout.decode()
    if done.returncode == 2 and not text:
        raise failure(2, done.stderr, "robotsbatch")
    return Explanation({0: True, 1: False}.get(done.returncode), text)


def _run(args: list[str], ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode not in ok:
        raise failure(done.returncode, done.stderr, "robotsbatch")
    return done
