"""Verdicts in Ray Data: a function for ``Dataset.map_batches``.

    ds.map_batches(robotsbatch.ray.Verdicts(rules=pack, agents="CCBot"), batch_format="pyarrow")
"""

from __future__ import annotations

from typing import Unpack

import pyarrow as pa

from robotsbatch._options import Options
from robotsbatch._tables import evaluate


class Verdicts:
    """Adds the verdict columns to a batch, a pyarrow Table.

    Each batch starts a child with one worker, because Ray runs one task per processor. Use a
    ``batch_size=`` of some ten thousand rows or more, and a rule pack, which opens in
    milliseconds.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        options.setdefault("workers", 1)
        self.options = options

    def __call__(self, batch: pa.Table) -> pa.Table:
        return evaluate(batch, **self.options)
