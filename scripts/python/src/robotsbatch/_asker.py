"""A running program that answers columns of URLs, for a query engine."""

from __future__ import annotations

import os
import threading
from typing import Any

import pyarrow as pa

from robotsbatch._errors import UsageError
from robotsbatch._options import Command, Options
from robotsbatch._pipe import Pipe
from robotsbatch._tables import BATCH_ROWS, time_column


class Asker:
    """Answers arrays of URLs, and of their times with as_of="column:NAME", with their verdict
    columns, through one running child.

    The child starts at the first array and ends when the asker is dropped or closed. After a
    failure, and in a forked process, a new child is started. Several threads may ask at
    once: one writes its URLs while others wait for their answers.
    """

    def __init__(self, options: Options) -> None:
        self._line: _Line | None = None
        for option in ("columns", "emit", "summary", "progress", "url_column"):
            if options.get(option) is not None:
                raise UsageError(f"{option}= is about tables: here a column of URLs is answered with a verdict for each row")
        self._options: Options = {**options, "columns": "verdict"}
        self.time = time_column(options)
        self._asking = threading.Lock()
        self._known = threading.local()  # what a thread asked for last, and the answer

    def schema(self) -> pa.Schema:
        """The columns of the answers."""
        with self._asking:
            names = ["url", self.time] if self.time else ["url"]
            return self._started(pa.schema([(name, pa.string()) for name in names])).pipe.schema

    def ask(self, urls: Any, *times: Any) -> pa.Table:
        """The verdict columns of an array or chunked array of strings, and of their times."""
        if len(times) != (1 if self.time else 0):
            raise UsageError(f"as_of='column:{self.time}' needs the time of each URL" if self.time else "give as_of='column:NAME' to judge each URL at its own time")
        if urls.type not in (pa.string(), pa.large_string()):
            urls = urls.cast(pa.large_string())
        asked = pa.table([urls, *times], names=["url", self.time][: 1 + len(times)])
        # An engine asks for each function of a query with the same rows.
        known = getattr(self._known, "last", None)
        if known is not None and asked.equals(known[0]):
            return known[1]
        batches = asked.to_batches(max_chunksize=BATCH_ROWS)
        if len(batches) == 1:
            with self._asking:
                line = self._started(asked.schema)
                number = line.send(batches[0])
            answers = [line.take(number)]
        else:
            with self._asking:
                line = self._started(asked.schema)
                answers = line.all(batches)
        answer = pa.Table.from_batches(answers, line.pipe.schema)
        if len(urls) <= BATCH_ROWS:
            self._known.last = (asked, answer)
        return answer

    def _started(self, schema: pa.Schema) -> _Line:
        line = self._line
        if line is None or line.failed or line.process != os.getpid() or line.schema != schema:
            if line is not None:
                line.close()
            pipe = Pipe(Command("pipe", self._options), schema, self._options.get("workers", 1))
            line = self._line = _Line(pipe, schema)
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

    def __init__(self, pipe: Pipe, schema: pa.Schema) -> None:
        self.pipe = pipe
        self.schema = schema
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
        try:
            with self._turn:
                self._turn.wait_for(lambda: self._taken == number or self.failed)
                if self.failed:
                    raise self.failed
            answer = self.pipe.answer(self.pipe.taking())
            with self._turn:
                self._taken += 1
                self._turn.notify_all()
        except BaseException as error:  # also Ctrl-C while it waits: nobody would take the answer
            self._fail(error)
            raise
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
