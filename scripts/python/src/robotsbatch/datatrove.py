"""A filter for datatrove: keeps documents that robots.txt lets a crawler fetch."""

from __future__ import annotations

from typing import Any, Unpack

import pyarrow as pa
from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from robotsbatch._errors import UsageError
from robotsbatch._options import Options
from robotsbatch._tables import evaluate


class RobotsFilter(BaseFilter):
    """Keeps documents with a URL that is allowed, and drops the others with a reason.

    The URL is ``metadata[url_key]``. A document without a verdict, as for an invalid URL, is
    dropped unless ``keep_unknown``. The reasons are the values of the column ``reason``,
    such as ``disallow_rule``; datatrove counts dropped documents by them.
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
        if not isinstance(agents := options.get("agents") or "*", str) and len(agents) != 1:
            raise UsageError("RobotsFilter takes one agent", 2)
        self.url_key = url_key
        self.keep_unknown = keep_unknown
        self.options: Options = {"workers": 1, **options, "explain": True, "columns": "verdict"}

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        urls: Any = pa.array([doc.metadata.get(self.url_key) for doc in batch], pa.string())
        verdicts = evaluate(pa.table({"url": urls}), **self.options)
        prefix = self.options.get("prefix", "")
        return [
            True if allowed or allowed is None and self.keep_unknown else (False, reason)
            for allowed, reason in zip(
                verdicts[prefix + "allowed"].to_pylist(), verdicts[prefix + "reason"].to_pylist(), strict=True
            )
        ]
