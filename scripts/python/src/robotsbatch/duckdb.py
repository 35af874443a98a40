"""Verdicts in DuckDB's SQL.

    robotsbatch.duckdb.register(connection, rules="site.rules", agents="CCBot")
    connection.sql("select url, robots_reason(url) from frontier where not robots_allowed(url)")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from robotsbatch._asker import Asker
from robotsbatch._options import Options

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Functions", "register"]


class Functions:
    """The functions that register made: ``names``, and ``close()`` that removes them.

    In a with block they are removed at its end.
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


def register(connection: DuckDBPyConnection, **options: Unpack[Options]) -> Functions:
    """Give a connection SQL functions of a URL that tell its verdicts.

    ``robots_allowed(url)`` is a boolean, null without a verdict; ``robots_reason(url)``
    says why, and ``robots_rule(url)``, ``robots_rule_line(url)`` and
    ``robots_rule_agent(url)`` which rule decides. For several agents there is a function
    for each, such as ``robots_allowed_gptbot(url)``, unless ``combine=`` makes one
    verdict of them. ``with_=`` adds functions, such as ``robots_crawl_delay(url)``, and
    ``prefix=`` replaces ``robots_``. Functions of these names that an earlier call
    made are replaced.

    The program runs until the connection is closed, and a second one for the functions
    that explain, from their first use on.

    Raises:
        UsageError: an option or the rules are not as they should be.
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
    # Those of -explain are of the same types in any job, so that no program is started
    # to tell them.
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
        # Nulls are asked about as well: a reason says that null is not a URL.
        connection.create_function(name, _function(asker, name), ["VARCHAR"], kind, type="arrow", null_handling="special")
        made.names.append(name)
    return made


_EXPLAINING = [("reason", pa.string()), ("rule", pa.string()), ("rule_line", pa.int32()), ("rule_agent", pa.string())]


def _function(asker: Asker, name: str) -> Callable[[Any], Any]:
    def verdict(urls: Any) -> Any:
        column = asker.ask(urls).column(name)
        return column.cast(_decoded(column.type)) if pa.types.is_dictionary(column.type) else column

    return verdict


def _decoded(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
