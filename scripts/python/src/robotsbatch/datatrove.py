"""A filter for datatrove: keeps documents that robots.txt lets a crawler fetch."""

from __future__ import annotations

from typing import Any, Unpack, cast

import pyarrow as pa
from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from robotsbatch._errors import UsageError
from robotsbatch._options import Options, listed, text
from robotsbatch._tables import evaluate, time_column


class RobotsFilter(BaseFilter):
    """Keeps documents with a URL that is allowed, and drops the others with a reason.

    The URL is ``metadata[url_key]``, and with ``as_of="column:NAME"`` its time is
    ``metadata[NAME]``. A document without a verdict, as for an invalid URL, is dropped unless
    ``keep_unknown``. Several agents make one verdict: ``agents_as="any-denied"`` unless that is
    given. ``emit=`` keeps other documents: with ``use="training", emit="permitted"``, those
    that may be fetched and used.

    The reasons are the values of the column ``reason``, such as ``disallow_rule``, and the
    column of the use that is disallowed, such as ``use_train_ai`` or ``signal_ai_train``, or
    ``unreadable``; datatrove counts dropped documents by them.
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = 10_000,
        url_key: str = "url",
        keep_unknown: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        self.emit = options.pop("emit", None)
        if keep_unknown and self.emit is not None:
            raise UsageError("keep_unknown= and emit= both say which documents are kept: give one")
        if options.get("agents_file") or len(listed(options.get("agents") or "*")) > 1:
            options.setdefault("agents_as", "any-denied")
        if options.get("agents_as") in ("columns", "list"):
            raise UsageError("RobotsFilter needs one verdict for all agents: agents_as='any-denied' or 'all-denied'")
        self.url_key = url_key
        self.keep_unknown = keep_unknown
        self.options: Options = {"workers": 1, **options, "explain": True, "columns": "verdict"}

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        table = pa.table({"url": pa.array([doc.metadata.get(self.url_key) for doc in batch], pa.string())})
        if name := time_column(self.options):
            times = [doc.metadata.get(name) for doc in batch]
            table = table.append_column(name, pa.array([None if time is None else text(time) for time in times], pa.string()))
        verdicts = evaluate(table, **self.options).to_pylist()
        prefix = self.options.get("prefix", "")
        kept = {i for i, row in enumerate(verdicts) if row[prefix + "allowed"] or row[prefix + "allowed"] is None and self.keep_unknown}
        if self.emit is not None:
            numbered: Any = table.append_column("_row", pa.array(range(len(batch))))
            kept = set(evaluate(numbered, **cast(Options, {**self.options, "columns": "all", "emit": self.emit}))["_row"].to_pylist())
        return [True if i in kept else (False, self._reason(row, prefix)) for i, row in enumerate(verdicts)]

    def _reason(self, row: dict[str, Any], prefix: str) -> str:
        """Why a document is dropped."""
        if not row[prefix + "allowed"] or self.emit != "permitted":
            return str(row[prefix + "reason"])
        return next((name for name, value in row.items() if name.startswith((prefix + "use_", prefix + "signal_")) and value is False), "unreadable")
