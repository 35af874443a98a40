"""Exceptions and warnings, with the program's own messages."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, ParamSpec, TypeAlias, TypeVar

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")

# The flags that make the program's stderr lines of JSON with its warnings.
LOGGING = ["-log", "json"]

# What a caller calls a flag of the program, which is given with its value.
Word: TypeAlias = Callable[[str, str], str]


class RobotsbatchError(RuntimeError):
    """The program failed.

    The text is the program's message, with options in place of flags. ``status`` is the exit
    status: 1 failed, 2 wrong use, 75 a failure that may not happen again, or the negative
    number of the signal that ended the program.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message, status)
        self.message = message
        self.status = status

    def __str__(self) -> str:
        return self.message


class UsageError(RobotsbatchError, ValueError, TypeError):
    """An option, the rules or the columns are wrong (exit status 2)."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message, status)


class RobotsbatchWarning(UserWarning):
    """A warning of the program, such as about an agent that no robots.txt names.

    ``warnings.filterwarnings("ignore", category=RobotsbatchWarning)`` silences these.
    """


for _class in (RobotsbatchError, UsageError, RobotsbatchWarning):
    _class.__module__ = "robotsbatch"  # what a traceback calls it


def plainly(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Make the traceback of the program's failures end where the function is called."""

    @functools.wraps(function)
    def called(*args: _Args.args, **options: _Args.kwargs) -> _Result:
        try:
            return function(*args, **options)
        except RobotsbatchError as error:
            raise error.with_traceback(None) from None

    return called


def end(child: subprocess.Popen[bytes]) -> None:
    """Stop a program, which then removes what it has not finished."""
    child.terminate()
    try:
        child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def failure(status: int, stderr: bytes, what: str, word: Word) -> BaseException:
    """Return the exception for a program that ended with a status."""
    if status in (130, -signal.SIGINT):
        return KeyboardInterrupt()
    for _, _, said in _lines(stderr):  # explain and lint end with 2 whatever went wrong, because 1 is an answer
        status = said.get("exit_status", status)
    message = "\n".join(_said(stderr, "ERROR", word) or _said(stderr, "", word))
    if not message and status < 0:
        message = f"{what} was killed by {signal.Signals(-status).name}"
    message = message or f"{what} ended with status {status}"
    return (UsageError if status == 2 else RobotsbatchError)(message, status)


def failed(stderr: bytes) -> bool:
    """Whether a program of which 2 is an answer said that it failed."""
    return any(level in ("ERROR", "") for level, _, _ in _lines(stderr))


def warn(stderr: bytes, word: Word) -> None:
    """Issue the warnings of a program that succeeded, at the line that called the package."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        frame, level = frame.f_back, level + 1
    for line in _said(stderr, "WARN", word):
        warnings.warn(line, RobotsbatchWarning, stacklevel=level)


def summary(stderr: bytes) -> dict[str, Any]:
    """The counts of a program that succeeded."""
    for _, _, said in _lines(stderr):
        if "summary" in said:
            return dict(said["summary"])
    return {}


def _said(stderr: bytes, level: str, word: Word) -> list[str]:
    """The messages of a level, with options in place of flags; with none, the lines that are not JSON."""
    messages = []
    for of, message, said in _lines(stderr):
        if of == level and message.strip():
            parts = said.get("parts", [{"text": message}])
            worded = ""
            for part in parts:
                if "text" not in part:
                    worded += word(part["option"], part.get("value", ""))
                else:  # "memory=" is the option inside a sentence, "memory: " begins one about it
                    worded = (worded.removesuffix("=") if part["text"].startswith(": ") else worded) + part["text"]
            messages.append(worded.removeprefix("stdin: "))
    return messages


def _lines(stderr: bytes) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The level, the message and the fields of each line; a line that is not JSON has no level."""
    for line in stderr.decode(errors="replace").splitlines():
        try:
            said = json.loads(line)
            level, message = said["level"], said["msg"]
        except (ValueError, KeyError, TypeError):
            level, message, said = "", line.removeprefix("robotsbatch: "), {}
        yield level, message, said
