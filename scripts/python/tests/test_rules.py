"""Every kind of rules, by every function, with what options are by default."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import robotsbatch

RULES = "User-agent: *\nDisallow: /d\n"
URLS = pa.table({"url": [f"https://{host}.example/{path}" for host in "ab" for path in "dx"]})


def folder_of(folder: Path, hosts: str) -> Path:
    for host in hosts:
        (folder / f"{host}.example").write_text(RULES)
    return folder


def table_of(folder: Path, hosts: str) -> Path:
    rows = [
        {"authority": f"{host}.example", "status": 200, "fetched_at": "2026-03-01T12:00:00Z", "body": RULES} for host in hosts
    ]
    (file := folder / "captures.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def warc_of(folder: Path, hosts: str) -> Path:
    text = ""
    for host in hosts:
        answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(RULES)}\r\n\r\n{RULES}"
        text += (
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-03-01T12:00:00Z\r\n"
            f"WARC-Target-URI: https://{host}.example/robots.txt\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(answer)}\r\n\r\n{answer}\r\n\r\n"
        )
    (file := folder / "crawl.warc").write_bytes(text.encode())
    return file


def pack_of(folder: Path, hosts: str) -> Path:
    robotsbatch.compile(file := folder / "site.rules", rules=table_of(folder, hosts))
    return file


def history_of(folder: Path, hosts: str) -> Path:
    args: list[str | Path] = ["-quiet", "-history", "-rules", table_of(folder, hosts), "-out", file := folder / "site.rules"]
    subprocess.run([robotsbatch.find_robotsbatch_bin(), "compile", *args], check=True)
    return file


def single_of(folder: Path, _: str) -> Path:
    (file := folder / "robots.txt").write_text(RULES)
    return file


KINDS: dict[str, Callable[[Path, str], Path]] = {
    "folder": folder_of,
    "table": table_of,
    "warc": warc_of,
    "pack": pack_of,
    "history": history_of,
    "single": single_of,
}


# All pairs but two single files: a job takes only one of those.
PAIRS = [(first, second) for first in KINDS for second in [None, *KINDS] if (first, second) != ("single", "single")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_function_gives_the_same_verdicts(tmp_path: Path, first: str, second: str | None) -> None:
    rules, hosts = [], "ab" if second is None and first != "single" else "a"
    for number, (kind, known) in enumerate([(first, hosts), (second, "b")]):
        if kind:
            (folder := tmp_path / f"rules{number}").mkdir()
            rules.append(KINDS[kind](folder, known))
    options: dict[str, object] = {"rules": rules}
    if "single" in (first, second):
        options["for_"] = "a.example" if first == "single" else "b.example"
    want = [False, True, second is None and first == "single", True]
    assert robotsbatch.evaluate(URLS, **options)["allowed"].to_pylist() == want  # type: ignore[arg-type]
    assert robotsbatch.reader(URLS, **options).read_all()["allowed"].to_pylist() == want  # type: ignore[arg-type]
