"""Verdicts in DuckDB's SQL.

    robotsbatch.duckdb.register(connection, rules="site.rules", agents="CCBot")
    connection.sql("select url, robots_reason(url) from frontier where not robots_allowed(url)")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from robotsbatch._asker import Asker
from robotsbatch._errors import plainly
from robotsbatch._options import Options

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Functions", "register"]


class Functions:
    """The functions that register made. ``names`` lists them, and ``close()`` removes them,
    as does the end of a with block.
    """

    def __init__(self, connection: DuckDBPyConnection, askers: list[Asker]) -> None:
        self.names: list[str] = []
        self._connection = connection
        self._askers = askers

    def close(self) -> None:
        """Remove the functions and end the program."""
        for name in self.names:
            self._connection.remove_function(name)
        self.names = []
        for asker in self._askers:
            asker.close()

    def __enter__(self) -> Functions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@plainly
def register(connection: DuckDBPyConnection, **options: Unpack[Options]) -> Functions:
    """Add SQL functions to a connection, which return the verdict on a URL.

    ``robots_allowed(url)`` returns a boolean, or null without a verdict.
    ``robots_reason(url)`` returns the reason; ``robots_rule(url)``, ``robots_rule_line(url)``
    and ``robots_rule_agent(url)`` return the rule that decides. With several agents, each has
    its own functions, such as ``robots_allowed_gptbot(url)``, unless ``agents_as=`` makes
    one verdict for all. ``with_=`` adds functions, such as ``robots_crawl_delay(url)``, and
    ``prefix=`` replaces ``robots_``. With ``as_of="column:seen"`` each function takes the
    URL's time as its second argument: ``robots_allowed(url, seen)``. Functions of the same names from an earlier call are
    replaced.

    The program runs until the connection is closed. A second one, for the functions that
    explain, starts when one of these is first used.

    Raises:
        UsageError: an option or the rules are wrong.
        RobotsbatchError: the program failed.
    """
    options.setdefault("prefix", "robots_")
    options.pop("explain", None)
    plain = Asker(options)
    explained = Asker(cast(Options, {**options, "explain": True}))
    try:
        columns = [(plain, f.name, _decoded(f.type)) for f in plain.schema()]
    except BaseException:
        plain.close()
        raise
    # The columns of -explain have the same types in any job, so no program needs to be
    # started to find them.
    begin = f"{options['prefix']}allowed"
    for suffix in [name.removeprefix(begin) for _, name, _ in columns if name.startswith(begin)]:
        columns += [(explained, f"{options['prefix']}{name}{suffix}", kind) for name, kind in _EXPLAINING]
    made = Functions(connection, [plain, explained])
    kinds = connection.from_arrow(pa.schema([(name, kind) for _, name, kind in columns]).empty_table()).types
    for (asker, name, _), kind in zip(columns, kinds, strict=True):
        try:
            connection.remove_function(name)
        except Exception:  # there was none
            pass
        # Without types any kind of time is taken. Nulls are asked about as well: a reason says that null is not a URL.
        connection.create_function(name, _function(asker, name), None if asker.time else ["VARCHAR"], kind, type="arrow", null_handling="special")
        made.names.append(name)
    return made


_EXPLAINING = [("reason", pa.string()), ("rule", pa.string()), ("rule_line", pa.int32()), ("rule_agent", pa.string())]


def _function(asker: Asker, name: str) -> Callable[[Any], Any]:
    def verdict(*columns: Any) -> Any:
        column = asker.ask(*columns).column(name)
        return column.cast(_decoded(column.type)) if pa.types.is_dictionary(column.type) else column

    return verdict


def _decoded(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
