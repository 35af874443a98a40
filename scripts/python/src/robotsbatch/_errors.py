"""What goes wrong, as exceptions that carry the program's own line."""

from __future__ import annotations

import signal


class RobotsbatchError(RuntimeError):
    """The program failed.

    Its text is the program's line on stderr, and ``status`` its exit status: 1
    failed, 2 wrong use, 75 worth another try, negative for the signal that ended it.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, status)
        self.message = message
        self.status = status

    def __str__(self) -> str:
        return self.message


class UsageError(RobotsbatchError, ValueError):
    """The program was asked for what it does not do (exit status 2)."""


def failure(status: int, stderr: bytes, what: str) -> BaseException:
    """Return the exception for a program that ended with a status."""
    if status in (130, -signal.SIGINT):
        return KeyboardInterrupt()
    message = stderr.decode(errors="replace").strip()
    if not message and status < 0:
        message = f"{what} was killed by {signal.Signals(-status).name}"
    message = message or f"{what} ended with status {status}"
    return (UsageError if status == 2 else RobotsbatchError)(message, status)
