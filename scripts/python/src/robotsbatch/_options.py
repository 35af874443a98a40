"""What the functions take, and the flags that it becomes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Required, TypeAlias, TypedDict

from robotsbatch._bin import find_robotsbatch_bin

Path: TypeAlias = str | os.PathLike[str]


class RuleOptions(TypedDict, total=False):
    """Which rules decide, and for whom. Each is the program's flag of that name."""

    rules: Required[Path | Sequence[Path]]
    """Folder of robots.txt files named by host, rule pack, or captures; of several
    the first that knows an authority decides."""
    agents: str | Sequence[str]
    """Product tokens, each with a verdict of its own; a token is a chain where it has
    commas, the most specific first: ``Googlebot-News,Googlebot``. Default ``*``."""
    profile: Literal["rfc9309", "google"]
    """Whose rules: RFC 9309's, which is the default, or those of Google's parser."""
    robots_limit: str | int
    """Bytes of a robots.txt that count, such as ``500KiB``."""
    for_: str
    """Whose the single robots.txt is that ``rules`` names."""
    allow_no_rules: bool
    """Go on when ``rules`` has no rules at all."""
    missing: Literal["allow", "deny", "null"]
    """Verdict where nothing is known of an authority."""
    as_of: str
    """Time that ages count up to, and after which no capture counts."""
    max_age: str
    """Rows decided by an older robots.txt are counted, such as ``7d``."""
    on_429: Literal["allow", "deny"]
    on_unresolved_redirect: Literal["allow", "deny"]
    store_timeout: str
    """How long an object store may be silent, such as ``2m``."""
    binary: Path
    """The program; by default the package's own, as find_robotsbatch_bin finds it."""


class Options(RuleOptions, total=False):
    """RuleOptions, and which columns come out."""

    columns: Literal["all", "url", "verdict"]
    """What comes out beside the verdicts: all columns (the default), the URLs, or
    nothing."""
    url_column: str
    """The column with the URLs; without it ``url``, then what the program takes."""
    explain: bool
    """Add why: ``reason``, ``rule``, ``rule_line`` and ``rule_agent``."""
    with_: str | Sequence[str]
    """More columns, such as ``crawl_delay`` or ``robots_status``."""
    prefix: str
    """Put before the names of the verdict columns."""
    workers: int
    """How many batches the program works on at once."""
    memory: str | int
    """What the program may hold, such as ``512MiB``."""


# Options that are flags of another name.
_FLAGS = {"agents": "agent", "for_": "for", "with_": "with"}


def command(name: str, options: object) -> list[str]:
    """Return the command line of one of the program's commands."""
    assert isinstance(options, dict)
    if not options.get("rules"):
        raise TypeError("rules= is missing: a folder of robots.txt files, a rule pack, or captures")
    args = [os.fspath(options.get("binary") or find_robotsbatch_bin()), name]
    known = Options.__annotations__ | {"out": None, "partitions": None}
    for option, value in options.items():
        if option not in known:
            raise TypeError(f"there is no option {option}; there are {', '.join(sorted(known))}")
        if option == "binary" or value is None or value is False:
            continue
        flag = "-" + _FLAGS.get(option, option.replace("_", "-"))
        if value is True:
            args.append(flag)
            continue
        several = isinstance(value, Sequence) and not isinstance(value, str)
        for one in value if several else [value]:
            args += [flag, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return args
