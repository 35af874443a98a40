"""The options of the functions, and the flags that they become."""

from __future__ import annotations

import contextlib
import datetime
import difflib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Annotated, Any, Literal, Protocol, Required, TypeAlias, TypedDict, TypeVar, get_args, get_origin, get_type_hints

from robotsbatch._bin import find_robotsbatch_bin
from robotsbatch._errors import UsageError


class Frame(Protocol):
    """A table or data frame of any library."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Path: TypeAlias = str | os.PathLike[str]
Texts: TypeAlias = Mapping[str, str | bytes]
Rules: TypeAlias = Path | Texts | Frame | Iterable[Path | Texts | Frame]
Names: TypeAlias = str | Frame | Iterable[str]
Time: TypeAlias = str | datetime.date
Span: TypeAlias = str | datetime.timedelta

_Class = TypeVar("_Class", bound=type)


def _described(cls: _Class) -> _Class:
    """Put what each option means into the class's docstring, for help()."""
    lines = [cls.__doc__ or "", "", "Options:"]
    lines += [f"    {name}: {text}" for name, (_, text) in _options(cls).items()]
    cls.__doc__ = "\n".join(lines)
    return cls


def _options(cls: type) -> dict[str, tuple[Any, str]]:
    """The options of a class by name, each with its type and what it means."""
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        if get_origin(hint) is Required:
            [hint] = get_args(hint)
        kind, text = get_args(hint)
        found[name] = (kind, text)
    return found


@_described
class RuleOptions(TypedDict, total=False):
    """Which rules decide, and for whom."""

    rules: Required[
        Annotated[
            Rules,
            "a folder of robots.txt files named by host, a rule pack, captures (also as a table or data frame), or texts by host: "
            '{"example.com": "User-agent: *"}; if there are several, the first that knows a host decides',
        ]
    ]
    agents: Annotated[
        Names,
        'product tokens such as "CCBot", each with its own verdict, in a list, a set, a series or a column agent; a chain has commas, the most specific first: '
        '"Googlebot-News,Googlebot" (default "*", the rules for everyone)',
    ]
    agent: Annotated[str, "the same for one agent"]
    profile: Annotated[Literal["rfc9309", "google"], 'how to read robots.txt: by "rfc9309" (default), or as Google\'s parser does']
    robots_limit: Annotated[str | int, 'bytes of a robots.txt that count, such as "1MiB" (default "500KiB", the smallest limit)']
    for_: Annotated[str, "the host that the single robots.txt in rules belongs to"]
    fetch_list: Annotated[Path, "the list of robots.txt URLs that were to be fetched: hosts on it that are not in rules are unreachable"]
    warc_base: Annotated[str, 'the folder or store with the WARC files whose records a table in rules names, such as "s3://commoncrawl/"']
    allow_no_rules: Annotated[bool, "continue even if rules is empty"]
    assume: Annotated[
        str | Mapping[str, str],
        'what holds where nothing is certain, such as {"missing": "null", "429": "allow"}: "missing" ("allow", "deny", "null") if no robots.txt is known '
        'for a host, "429" ("deny", "allow") and "redirect" ("allow", "deny") for captures with this status and with a redirect that leads nowhere, '
        '"before-first" ("use", "allow", "deny", "null"; default as missing) for rows before the first capture, with as_of="column:NAME", '
        '"unreadable" ("deny", "allow") for uses that are stated in a form that cannot be read, with emit="permitted"',
    ]
    as_of: Annotated[
        Time,
        'judge as of this time, such as "2026-03-01": ignore later captures, measure ages up to it; "column:NAME" judges each row at its own time',
    ]
    max_age: Annotated[Span, 'count rows decided by a robots.txt older than this, such as "7d" (default "24h")']
    store_timeout: Annotated[Span, 'give up when an object store has been silent this long (default "2m")']
    binary: Annotated[Path, "the program (default: the one in the package, as find_robotsbatch_bin finds it)"]


@_described
class Options(RuleOptions, total=False):
    """Which rules decide, for whom, and which columns and rows the result has."""

    agents_file: Annotated[Path, "a list of agents, one a line, or the JSON of ai.robots.txt; they follow those of agents"]
    agents_as: Annotated[
        Literal["columns", "list", "any-denied", "all-denied"],
        "a column for each agent (default, up to 32 agents), only the list denied_agents, or one verdict for all agents: denied if any of them is, or if all are, "
        "with the list denied_by",
    ]
    emit: Annotated[
        Literal["all", "allowed", "denied", "unknown", "permitted", "unpermitted"],
        'rows of the result (default "all"); "permitted" rows are allowed, and none of their uses is disallowed or unreadable; "unpermitted" rows are all others',
    ]
    use: Annotated[
        Names,
        'a column for each use that robots.txt may allow: "train-ai", "ai-use", "search" of Content-Usage, '
        '"signal:ai-train", "signal:ai-input", "signal:search", "signal:use" of Content-Signal; "training" is "train-ai" and "signal:ai-train"',
    ]
    columns: Annotated[Literal["all", "url", "verdict"], 'columns to keep before the verdicts: all (default), the URLs, or none ("verdict")']
    url_column: Annotated[str, 'the column with the URLs (default: "url", or the one that the program finds)']
    explain: Annotated[bool, "add the columns reason, rule, rule_line and rule_agent"]
    with_: Annotated[Names, 'more columns, such as "crawl_delay" or "robots_status"']
    prefix: Annotated[str, "text before the names of the verdict columns"]
    ever_denied: Annotated[bool, 'also deny rows that were denied at any later time, with as_of="column:NAME"']
    workers: Annotated[int, "how many batches the program works on at once"]
    memory: Annotated[str | int, 'memory for batches and rules (default "512MiB")']
    summary: Annotated[
        dict[str, Any],
        "a dict that is filled with the counts of `robotsbatch help summary` when all answers are there: rows, rows_no_robots, agents, started_at, finished_at, …",
    ]
    progress: Annotated[
        bool | Callable[[int], object],
        "a function that is called with the number of rows answered so far, batch by batch; True writes it to stderr",
    ]


@_described
class ExplainOptions(RuleOptions, total=False):
    """Which rules explain looks at, and for which agents."""

    agents_file: Annotated[Path, "a list of agents, one a line, or the JSON of ai.robots.txt; they follow those of agents"]


@_described
class SurveyOptions(RuleOptions, total=False):
    """Which rules a survey is about, and which agents."""

    agents_file: Annotated[Path, "a list of agents, one a line, or the JSON of ai.robots.txt; they follow those of agents"]
    history: Annotated[bool, "add since when: first_seen, last_seen, since, since_after and changes"]
    changes: Annotated[bool, "a row for each change instead: who began or ceased to block whom, and when"]
    memory: Annotated[str | int, 'memory for batches and rules (default "512MiB")']


class SurveyRow(TypedDict, total=False):
    """A row of survey(), as ``survey(…).to_pylist()`` has them: `robotsbatch help survey`
    describes the columns."""

    authority: str
    registered_domain: str | None
    surt_host_name: str
    agent: str
    agent_class: str | None
    blocked: Literal["none", "some", "all"] | None
    root: bool
    by: Literal["name", "everyone"] | None
    crawl_delay: float | None
    rules: int | None
    access: Literal["rules", "unavailable", "unreachable"]
    status: int | None
    status_class: str | None
    fetched_at: datetime.datetime | None
    stale: bool
    body_kind: str | None
    body_bytes: int | None
    body_digest: str | None
    # With history=True:
    first_seen: datetime.datetime | None
    last_seen: datetime.datetime | None
    since: datetime.datetime | None
    since_after: datetime.datetime | None
    changes: int


# "class" cannot be an attribute of the class above.
SurveyRow.__annotations__["class"] = str


@_described
class LintOptions(TypedDict, total=False):
    """Which findings lint returns."""

    least: Annotated[Literal["note", "warning", "error"], 'the lowest severity to return (default "note", all)']
    ignore: Annotated[Names, "codes of findings to leave out"]
    robots_limit: Annotated[str | int, 'bytes of a robots.txt that count, such as "1MiB" (default "500KiB", the least there is)']
    store_timeout: Annotated[Span, 'give up when an object store was silent this long (default "2m")']
    binary: Annotated[Path, "the program (default: the one in the package, as find_robotsbatch_bin finds it)"]


# Options with another name than their flags.
_FLAGS = {"agents": "agent", "agents_file": "agents", "for_": "for", "with_": "with"}


def _flag(option: str) -> str:
    return "-" + _FLAGS.get(option, option.replace("_", "-"))


# Options that are not flags.
OURS = ("binary", "summary", "progress")


def is_frame(value: Any) -> bool:
    """Whether a value is a table or data frame, of any library."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or hasattr(value, "schema"))


def listed(value: Any, rows: bool = False) -> list[Any]:
    """The values of an option: of a list, a set, a series, or of the column agent or the
    only column of a data frame, unless its rows are wanted."""
    if is_frame(value) and not rows:
        import pyarrow as pa

        table = pa.table(value)
        value = table.column("agent" if "agent" in table.column_names else 0)
    if isinstance(value, str | bytes | os.PathLike | Mapping) or not isinstance(value, Iterable) or is_frame(value):
        return [value]
    return sorted(value) if isinstance(value, Set) else list(value)


def text(value: Any) -> str:
    """A value as the program reads it."""
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds():.0f}s"
    if isinstance(value, datetime.date):  # a datetime is one, and without a zone in UTC
        return value.isoformat() + ("Z" if isinstance(value, datetime.datetime) and value.tzinfo is None else "")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


class Command:
    """A command line. Rules given as texts are in temporary folders until it is closed."""

    def __init__(self, name: str, options: Mapping[str, Any], kind: type = Options) -> None:
        known = _options(kind)
        for option in options:
            if option not in known:
                near = difflib.get_close_matches(option, known, 1, 0.7)
                raise UsageError(f"{name}: there is no option {option}; " + (f"did you mean {near[0]}?" if near else "there are " + ", ".join(known)))
        rules = options.get("rules")
        if "rules" in known and (rules is None or isinstance(rules, str | Mapping | list | tuple) and not rules):
            raise UsageError('rules= is missing: a folder of robots.txt files, a rule pack, captures, or texts such as {"example.com": "User-agent: *"}')
        if options.get("agent") is not None and options.get("agents") is not None:
            raise UsageError("agent= and agents= are the same: give one")
        # Of two options for a flag, the one that was given. "out" and "partitions" are compile's own.
        self._names = {_flag(option)[1:]: option for option in ["out", "partitions", *reversed(known), *options]}
        self._kinds = {option: str(kind) for option, (kind, _) in known.items()}
        self._agents_file = options.get("agents_file")
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._process = os.getpid()
        self.summary: dict[str, Any] | None = options.get("summary")
        self.progress: bool | Callable[[int], object] | None = options.get("progress")
        self.args = [os.fspath(options.get("binary") or find_robotsbatch_bin()), name]
        try:
            for option, value in options.items():
                if option not in OURS:
                    self._add(option, value)
        except BaseException:
            self.close()
            raise

    def _add(self, option: str, value: Any) -> None:
        if value is None or value is False:
            return
        if value is True:
            if "bool" not in self._kinds[option]:
                raise UsageError(f"{option}=True: a value is missing")
            self.args.append(_flag(option))
            return
        values = listed(value, rows=option == "rules")
        if option == "agents" and not values and not self._agents_file:
            raise UsageError('agents= is empty: leave it out for the rules for everyone ("*")')
        for one in values:
            one = one.as_py() if hasattr(one, "as_py") else one  # of pyarrow
            if one is None or type(one).__name__ in ("NAType", "NaTType"):  # of pandas
                raise UsageError(f"{option}= has a null: leave it out")
            if isinstance(one, (int, float)) and "int" not in self._kinds[option]:
                raise UsageError(f"{option}={one!r}: a number is not accepted here")
            if isinstance(one, bytes | list | tuple | Set) or isinstance(one, Mapping) and option not in ("rules", "assume"):  # str would add signs to it
                raise UsageError(f"{option}={one!r}: give a text")
            if option == "rules" and isinstance(one, str) and "\n" in one:
                raise UsageError('rules= is the text of a robots.txt, and has no host: give {"example.com": text}')
            if is_frame(one):
                one = self._captures(one)
            elif isinstance(one, Mapping) and option == "rules":
                one = self._folder(one)
            if isinstance(one, Mapping):
                one = ",".join(f"{case}={verdict}" for case, verdict in one.items())
            self.args += [_flag(option), text(one)]

    def _captures(self, frame: Any) -> str:
        """A file with a table of captures."""
        import pyarrow as pa

        folder = tempfile.TemporaryDirectory(prefix="robotsbatch.", ignore_cleanup_errors=True)
        self._folders.append(folder)
        name = os.path.join(folder.name, "captures.arrow")
        table = pa.table(frame).replace_schema_metadata(None)
        with pa.ipc.new_file(name, table.schema) as file:
            file.write_table(table)
        return name

    def _folder(self, texts: Texts) -> str:
        """A folder with the texts as files, named by host."""
        folder = tempfile.TemporaryDirectory(prefix="robotsbatch.", ignore_cleanup_errors=True)
        self._folders.append(folder)
        for host, text in texts.items():
            scheme, _, name = host.rpartition("://")
            name = name.removesuffix("/robots.txt").rstrip("/")
            if scheme not in ("", "http", "https", "ftp") or not re.fullmatch(r"[^./\\?#;@%\0\s][^/\\?#;@%\0\s]*", name):
                raise UsageError(f'rules has {host!r}, which is not a host: want "example.com", "example.com:8443" or "https://example.com"')
            if re.match("_|(http|https|ftp)__", name, re.IGNORECASE):  # such as _SUCCESS
                raise UsageError(f"rules has {host!r}, and files of such names are ignored: give the text in a table with the columns authority and body")
            if not isinstance(text, str | bytes):
                raise UsageError(f"rules has no text for {host!r}, but {text!r}")
            # On Windows no file may have a colon in its name. An IPv6 address has brackets.
            name = re.sub(r":(\d+)$", r"_\1", name) if not name.endswith("]") else name
            # With this ending every name is one of a host, also data.json.
            below = name.lower() + ".robots.txt"
            if len(os.fsencode(below)) > 255:  # the most of a file's name; a host's has up to 253
                below = os.path.join(name.lower(), "robots.txt")
            if len(os.fsencode(name.lower())) > 255:
                raise UsageError(f"rules has {host!r}, which is too long for the name of a file: give the text in a table with the columns authority and body")
            path = os.path.join(folder.name, scheme, below)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path):
                raise UsageError(f"rules has two texts for {host!r}: leave one out")
            with open(path, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
        return folder.name

    def word(self, flag: str, value: str) -> str:
        """What a caller calls a flag of the program."""
        option = self._names.get(flag)
        if option is None:
            return f"-{flag} {value}".rstrip()
        if "bool" in self._kinds.get(option, ""):
            return f"{option}=True"
        return f"{option}={value!r}" if value else f"{option}="

    def close(self) -> None:
        """Remove the folders of texts, unless this is a fork of the process that made them."""
        if self._process == os.getpid():
            for folder in self._folders:
                folder.cleanup()
        else:
            for folder in self._folders:
                folder._finalizer.detach()  # type: ignore[attr-defined]
        self._folders = []


@contextlib.contextmanager
def command(name: str, options: Mapping[str, Any], kind: type = Options) -> Iterator[Command]:
    """A Command that the with block closes at its end."""
    made = Command(name, options, kind)
    try:
        yield made
    finally:
        made.close()
