"""A running program that answers columns of URLs, for a query engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from robotsbatch._options import Command, Options
from robotsbatch._pipe import Pipe
from robotsbatch._tables import BATCH_ROWS

_SCHEMAS = {kind: pa.schema([("url", kind)]) for kind in (pa.string(), pa.large_string())}


class Asker:
    """Answers arrays of URLs with their verdict columns, through one running child.

    The child starts at the first array and ends when the asker is dropped or closed. After a
    failure, and in a forked process, a new child is started. Several threads may ask at
    once: one writes its URLs while others wait for their answers.
    """

    def __init__(self, options: Options) -> None:
        self._line: _Line | None = None
        for option in ("columns", "emit", "summary", "url_column"):
            if options.get(option) is not None:
                raise TypeError(f"{option}= is about tables: here a column of URLs is answered with a verdict for each row")
        self._options: Options = {**options, "columns": "verdict"}
        self._asking = threading.Lock()
        self._known = threading.local()  # what a thread asked for last, and the answer

    def schema(self) -> pa.Schema:
        """The columns of the answers."""
        with self._asking:
            return self._started(pa.string()).pipe.schema

    def ask(self, urls: Any) -> pa.Table:
        """The verdict columns of an array or chunked array of strings."""
        urls = urls if isinstance(urls, pa.ChunkedArray) else pa.chunked_array([urls])
        if urls.type not in _SCHEMAS:
            urls = urls.cast(pa.large_string())
        # An engine asks for each function of a query with the same rows.
        known = getattr(self._known, "last", None)
        if known is not None and urls.equals(known[0]):
            return known[1]
        batches = list(_batches(urls))
        if len(batches) == 1:
            with self._asking:
                line = self._started(urls.type)
                number = line.send(batches[0])
            answers = [line.take(number)]
        else:
            with self._asking:
                line = self._started(urls.type)
                answers = line.all(batches)
        answer = pa.Table.from_batches(answers, line.pipe.schema)
        if len(urls) <= BATCH_ROWS:
            self._known.last = (urls, answer)
        return answer

    def _started(self, kind: Any) -> _Line:
        line = self._line
        if line is None or line.failed or line.process != os.getpid() or line.kind != kind:
            if line is not None:
                line.close()
            pipe = Pipe(Command("pipe", self._options), _SCHEMAS[kind], self._options.get("workers", 1))
            line = self._line = _Line(pipe, kind)
        return line

    def close(self) -> None:
        """End the child."""
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def __del__(self) -> None:
        self.close()  # a thread of the pipe may hold it

    def __getstate__(self) -> Options:
        return self._options

    def __setstate__(self, options: Any) -> None:
        self.__init__({key: value for key, value in options.items() if key != "columns"})  # type: ignore[misc]


class _Line:
    """A pipe whose batches wait for their answers, in the order in which they were sent."""

    def __init__(self, pipe: Pipe, kind: Any) -> None:
        self.pipe = pipe
        self.kind = kind
        self.process = os.getpid()
        self.failed: BaseException | None = None
        self._sent = self._taken = 0
        self._turn = threading.Condition()

    def send(self, batch: Any) -> int:
        """Write a batch, for one thread at a time, and return its number."""
        try:
            self.pipe.ask(batch)
        except BaseException as error:
            self._fail(error)
            raise
        self._sent += 1
        return self._sent - 1

    def take(self, number: int) -> Any:
        """The answer to a batch."""
        with self._turn:
            self._turn.wait_for(lambda: self._taken == number or self.failed)
            if self.failed:
                raise self.failed
        try:
            answer = self.pipe.answer(self.pipe.taking())
        except BaseException as error:
            self._fail(error)
            raise
        with self._turn:
            self._taken += 1
            self._turn.notify_all()
        return answer

    def all(self, batches: list[Any]) -> list[Any]:
        """The answers to many batches, which no other thread sends meanwhile."""
        with self._turn:
            self._turn.wait_for(lambda: self._taken == self._sent or self.failed)
        try:
            return [answer for _, answer in self.pipe.answers(batches, lambda batch: batch, end=False)]
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        with self._turn:
            self.failed = self.failed or error
            self._turn.notify_all()

    def close(self) -> None:
        self._fail(RuntimeError("the program was ended while it was asked"))
        self.pipe.close()


def _batches(urls: Any) -> Iterator[Any]:
    for chunk in urls.chunks:
        for at in range(0, max(len(chunk), 1), BATCH_ROWS):
            yield pa.RecordBatch.from_arrays([chunk.slice(at, BATCH_ROWS)], schema=_SCHEMAS[urls.type])
