"""A child that answers batch by batch: robotsbatch pipe."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import IO, Any, NoReturn, TypeAlias

import pyarrow as pa

from robotsbatch._errors import LOGGING, RobotsbatchError, end, failure, summary, warn
from robotsbatch._options import Command

Take: TypeAlias = Callable[[], Any]  # of a RecordBatch; StopIteration at the end marker


class Pipe:
    """A ``robotsbatch pipe`` and the two ends of its streams.

    ``schema`` is the schema of the answers. The child ends with the ``with`` block, whatever
    happened in it. It also ends when this process does, because its stdin ends then.
    """

    _child: subprocess.Popen[bytes] | None = None

    def __init__(self, command: Command, schema: pa.Schema, workers: int = 1) -> None:
        self._command = command
        self._window = workers + 1 if workers > 1 else 1
        self._thread: threading.Thread | None = None
        self._taking: Take | None = None
        self._rows = 0
        program, name, *flags = command.args
        args = [program, name, "-verbose", *LOGGING, *flags]
        # A file, so that no amount of it blocks the child while nobody reads.
        with tempfile.TemporaryFile(prefix="robotsbatch.") as stderr:
            try:
                self._child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
            except BaseException:
                command.close()
                raise
            self._stderr = os.fdopen(os.dup(stderr.fileno()), "rb")
        assert self._child.stdin is not None and self._child.stdout is not None
        self._stdin: IO[bytes] = self._child.stdin
        self._stdout: IO[bytes] = self._child.stdout
        _open.add(self)
        try:
            self._writer = pa.ipc.new_stream(self._stdin, schema)
            # pyarrow writes the schema with the first batch, so that is an empty one.
            self._writer.write_batch(pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema))
            self._stdin.flush()
            self._reader = pa.ipc.open_stream(self._stdout)
            self._reader.read_next_batch()
        except (OSError, StopIteration, pa.ArrowException) as error:
            self._fail(error)
        except BaseException:
            self.close()
            raise
        self.schema: pa.Schema = self._reader.schema

    def answers(self, batches: Iterable[Any], sent: Callable[[Any], Any], *, end: bool = True) -> Iterator[tuple[Any, Any]]:
        """Yield each batch with its answer, in order.

        With one worker, a batch is read only after the previous answer was taken. With more
        workers, some batches are read ahead, while a thread receives the answers. Batches
        are always read by the caller's thread. Without ``end`` the child waits for more
        batches afterwards.
        """
        asked: deque[Any] = deque()
        take = self.taking()

        def answered() -> tuple[Any, Any]:
            batch, answer = asked.popleft(), self.answer(take)
            self._rows += batch.num_rows
            if progress := self._command.progress:
                (_show if progress is True else progress)(self._rows)
            return batch, answer

        for batch in batches:
            self.ask(sent(batch))
            asked.append(batch)
            if len(asked) == self._window:
                yield answered()
        while asked:
            yield answered()
        if end:
            self._end(take)

    def taking(self) -> Take:
        """What takes the next answer in."""
        if self._taking is None:
            self._taking = self._reader.read_next_batch if self._window == 1 else self._take_beside()
        return self._taking

    def ask(self, batch: Any) -> None:
        try:
            self._writer.write_batch(batch)
            self._stdin.flush()
        except OSError as error:
            self._fail(error)

    def answer(self, take: Take) -> Any:
        try:
            return take()
        except (OSError, StopIteration, pa.ArrowException) as error:
            self._fail(error)

    def _end(self, take: Take) -> None:
        """Write the end marker and see that the child ends as it should."""
        try:
            self._writer.close()
            self._stdin.close()
            take()
        except StopIteration as end:
            assert self._child is not None
            if self._child.wait() != 0:
                self._fail(end)
            if self._command.progress is True:
                print(file=sys.stderr)
            said = self._said()
            warn(said, self._command.word)
            if self._command.summary is not None:
                self._command.summary.clear()
                self._command.summary.update(summary(said))
        except (OSError, pa.ArrowException) as error:
            self._fail(error)

    def _take_beside(self) -> Take:
        """Start a thread that receives answers, so that this process and the child never
        wait for each other."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def read() -> None:
            while True:
                try:
                    answers.put(self._reader.read_next_batch())
                except BaseException as error:
                    answers.put(error)
                    return

        def take() -> Any:
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            return answer

        self._thread = threading.Thread(target=read, name="robotsbatch", daemon=True)
        self._thread.start()
        return take

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise the exception that best explains why the child's streams ended."""
        assert self._child is not None
        try:
            status = self._child.wait(timeout=10)  # it is about to end
        except subprocess.TimeoutExpired:
            status = 0
        why: BaseException = RobotsbatchError(f"robotsbatch pipe: the answer is damaged: {error}", status)
        if status != 0:
            why = failure(status, self._said(), "robotsbatch pipe", self._command.word)
        self.close()
        raise why from None

    def _said(self) -> bytes:
        """What the child wrote to stderr."""
        self._stderr.seek(0)
        return self._stderr.read(1 << 20)

    def close(self) -> None:
        """End the child if it still runs."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.poll() is None:
            end(child)
        if self._thread is not None:
            self._thread.join()
        for stream in (self._stdin, self._stdout, self._stderr):
            try:
                stream.close()
            except OSError:
                pass  # it had bytes that the child did not take
        self._command.close()

    def _forget(self) -> None:
        """In a forked process: let go of the child, which belongs to the parent process, and
        must see the end of its stdin when the parent ends."""
        self._command.close()
        child, self._child = self._child, None
        if child is None:
            return
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (self._stdin, self._stdout):
            if not stream.closed:
                os.dup2(null, stream.fileno(), inheritable=False)
        os.close(null)

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _show(rows: int) -> None:
    print(f"\rrobotsbatch: {rows:,} rows", end="", file=sys.stderr, flush=True)


_open: weakref.WeakSet[Pipe] = weakref.WeakSet()


def _forget_all() -> None:
    for pipe in list(_open):
        pipe._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
