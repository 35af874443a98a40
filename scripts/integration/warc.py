"""Writes captures with warcio and compares what robotsbatch makes of them.

Usage: warc.py ROBOTSBATCH SCRATCH
"""

import csv
import gzip
import io
import pathlib
import subprocess
import sys
import zlib

import brotli
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

RULES = b"User-agent: *\nDisallow: /x\n"
DATE = "2026-03-01T12:00:00Z"


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)



# Host, status, fields and body of a capture, and the reason that /x then has.
CAPTURES = [
    ("plain", "200 OK", [("Content-Length", str(len(RULES)))], RULES, "disallow_rule"),
    ("gzip", "200 OK", [("Content-Encoding", "gzip")], gzip.compress(RULES), "disallow_rule"),
    ("deflate", "200 OK", [("Content-Encoding", "deflate")], zlib.compress(RULES), "disallow_rule"),
    ("br", "200 OK", [("Content-Encoding", "br")], brotli.compress(RULES), "disallow_rule"),
    ("chunked", "200 OK", [("Transfer-Encoding", "chunked")], chunk(RULES), "disallow_rule"),
    ("long", "200 OK", [], RULES * 30000, "disallow_rule"),
    ("moved", "301 Moved", [("Location", "https://plain.example/robots.txt")], b"", "disallow_rule"),
    ("lost", "301 Moved", [("Location", "/nowhere")], b"", "unavailable"),
    ("chunkedgzip", "200 OK", [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")], chunk(gzip.compress(RULES)), "disallow_rule"),
    ("path", "302 Found", [("Location", "/plain?a=b#c")], b"", "unavailable"),
    ("nowhere", "302 Found", [], b"", "unavailable"),
    ("self", "302 Found", [("Location", "/robots.txt")], b"", "unavailable"),
    ("same", "304 Not Modified", [], b"", "unreachable"),
    ("slow", "429 Too Many Requests", [], b"no", "unreachable"),
    ("gone", "404 Not Found", [], b"no", "unavailable"),
    ("busy", "503 Busy", [], b"no", "unreachable"),
]


# Captures that are not those of the newest time, in a file of their own: an
# older one of a host that is gone by now, and redirects over several hops, which
# end in the other file.
OLDER = [("gone", "200 OK", [], RULES, None)]
for hops, reason in ((5, "disallow_rule"), (6, "unavailable")):
    for i in range(hops):
        to = f"https://hop{i + 1}of{hops}.example/robots.txt" if i + 1 < hops else "https://plain.example/robots.txt"
        OLDER.append((f"hop{i}of{hops}", "301 Moved", [("Location", to)], b"", reason if i == 0 else "disallow_rule"))


def write(path: pathlib.Path, compressed: bool, version: str, captures: list, date: str) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio"}))
        for host, status, fields, body, _ in captures:
            url = f"https://{host}.example/robots.txt"
            response = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), warc_headers_dict={"WARC-Date": date},
                http_headers=StatusAndHeaders(status, fields, protocol="HTTP/1.1"))
            request = writer.create_warc_record(
                url, "request",
                http_headers=StatusAndHeaders("GET /robots.txt HTTP/1.1", [("Host", host)], is_http_request=True))
            writer.write_request_response_pair(request, response)
        writer.write_record(writer.create_revisit_record(
            "https://again.example/robots.txt", "sha1:A", "https://plain.example/robots.txt", DATE,
            http_headers=StatusAndHeaders("200 OK", [], protocol="HTTP/1.1")))


def reasons(program: str, rules: list, urls: str) -> tuple:
    done = subprocess.run(
        [program, "-in", "-", "-in-format", "text", "-explain", *rules],
        input=urls, capture_output=True, text=True, check=True)
    return {row["url"]: row["reason"] for row in csv.DictReader(io.StringIO(done.stdout))}, done.stderr


def main() -> None:
    program, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    want = {f"https://{host}.example/x": reason for host, *_, reason in OLDER + CAPTURES}
    want["https://again.example/x"] = "disallow_rule"
    urls = "".join(url + "\n" for url in want)
    for name, compressed, version in [
        ("a", False, "1.0"), ("b", False, "1.1"), ("c", True, "1.0"), ("d", True, "1.1"),
    ]:
        ending = ".warc.gz" if compressed else ".warc"
        older, newer = scratch / f"{name}-older{ending}", scratch / f"{name}-newer{ending}"
        write(older, compressed, version, OLDER, "2026-02-28T12:00:00Z")
        write(newer, compressed, version, CAPTURES, DATE)
        pack = scratch / f"{name}.rules"
        pattern = str(scratch / f"{name}-*{ending}")
        subprocess.run([program, "compile", "-rules", pattern, "-out", pack, "-quiet"], check=True)
        for what, rules in [
            ("pattern", ["-rules", pattern]),
            ("two sources", ["-rules", str(newer), "-rules", str(older)]),
            ("pack", ["-rules", str(pack)]),
        ]:
            got, said = reasons(program, rules, urls)
            if got != want or "broken" in said:
                sys.exit(f"{name}{ending}, {what}: {got}, want {want}\n{said}")
            print(f"{name}{ending}, WARC {version}, {what}: {len(got)} authorities as expected")


main()
