"""Verdicts as expressions of Polars.

    import robotsbatch.polars
    frame.filter(pl.col("url").robots.allowed(rules="site.rules", agent="CCBot"))

With each URL at its own time:

    pl.struct("url", "seen").robots.allowed(rules="history.rules", as_of="column:seen")
"""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from robotsbatch._asker import Asker
from robotsbatch._errors import UsageError, plainly
from robotsbatch._options import Options, listed
from robotsbatch._tables import processors

__all__ = ["Robots"]


@pl.api.register_expr_namespace("robots")
class Robots:
    """``pl.col("url").robots``: verdicts on the URLs in an expression, or on a struct of the
    URLs and their times, with ``as_of="column:NAME"``. For type checkers it is
    ``Robots(pl.col("url"))``.

    The options are those of ``robotsbatch.evaluate``. The program starts when the
    query runs, and ends with the expression.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def allowed(self, **options: Unpack[Options]) -> pl.Expr:
        """Whether robots.txt lets the agent fetch the URL; null without a verdict."""
        return self._one("allowed", pl.Boolean, options)

    def reason(self, **options: Unpack[Options]) -> pl.Expr:
        """The reason of the verdict, such as ``disallow_rule``."""
        return self._one("reason", pl.String, {**options, "explain": True})

    @plainly
    def verdicts(self, **options: Unpack[Options]) -> pl.Expr:
        """All verdict columns as a struct: for several agents, with ``explain=True`` also the
        rules, and with the columns that ``with_=`` adds."""
        asker = _asker(options)
        kind = pl.Struct(pl.from_arrow(asker.schema().empty_table()).schema)  # type: ignore[union-attr]
        return self._map(asker, lambda answer: pl.from_arrow(answer).to_struct(), kind)  # type: ignore[union-attr]

    @plainly
    def _one(self, name: str, kind: Any, options: Options) -> pl.Expr:
        agents = options.get("agents")
        if options.get("agents_as") in (None, "columns"):
            if options.get("agents_file") or agents is not None and len(listed(agents)) != 1:
                raise UsageError(f"{name} is one column: give one agent, agents_as='any-denied', or take verdicts()")
        column = (options.get("prefix") or "") + name
        return self._map(_asker(options), lambda answer: pl.from_arrow(answer.column(column)).cast(kind), kind)

    def _map(self, asker: Asker, made: Any, kind: Any) -> pl.Expr:
        def answer(urls: pl.Series) -> pl.Series:
            parts = [urls]
            if asker.time:
                fields = urls.struct.unnest() if isinstance(urls.dtype, pl.Struct) else urls.to_frame()
                if len(fields.columns) != 2 or asker.time not in fields.columns:
                    raise UsageError(f"as_of='column:{asker.time}' needs a struct of the URLs and their times: pl.struct('url', '{asker.time}').robots")
                parts = [*fields.drop(asker.time), fields[asker.time]]
            parts[0] = parts[0].cast(pl.String)
            verdicts: pl.Series = made(asker.ask(*(part.to_arrow(compat_level=pl.CompatLevel.oldest()) for part in parts)))
            return verdicts.alias(urls.name)

        return self._expr.map_batches(answer, return_dtype=kind, is_elementwise=True)


def _asker(options: Options) -> Asker:
    return Asker({"workers": processors(), **options})
