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
CHUNKED = b"1b\r\n" + RULES + b"\r\n0\r\n\r\n"
DATE = "2026-03-01T12:00:00Z"

# Host, status, fields and body of a capture, and the reason that /x then has.
CAPTURES = [
    ("plain", "200 OK", [("Content-Length", str(len(RULES)))], RULES, "disallow_rule"),
    ("gzip", "200 OK", [("Content-Encoding", "gzip")], gzip.compress(RULES), "disallow_rule"),
    ("deflate", "200 OK", [("Content-Encoding", "deflate")], zlib.compress(RULES), "disallow_rule"),
    ("br", "200 OK", [("Content-Encoding", "br")], brotli.compress(RULES), "disallow_rule"),
    ("chunked", "200 OK", [("Transfer-Encoding", "chunked")], CHUNKED, "disallow_rule"),
    ("long", "200 OK", [], RULES * 30000, "disallow_rule"),
    ("moved", "301 Moved", [("Location", "https://plain.example/robots.txt")], b"", "disallow_rule"),
    ("lost", "301 Moved", [("Location", "/nowhere")], b"", "unavailable"),
    ("gone", "404 Not Found", [], b"no", "unavailable"),
    ("busy", "503 Busy", [], b"no", "unreachable"),
]


def write(path: pathlib.Path, compressed: bool, version: str) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio"}))
        for host, status, fields, body, _ in CAPTURES:
            url = f"https://{host}.example/robots.txt"
            response = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), warc_headers_dict={"WARC-Date": DATE},
                http_headers=StatusAndHeaders(status, fields, protocol="HTTP/1.1"))
            request = writer.create_warc_record(
                url, "request",
                http_headers=StatusAndHeaders("GET /robots.txt HTTP/1.1", [("Host", host)], is_http_request=True))
            writer.write_request_response_pair(request, response)
        writer.write_record(writer.create_revisit_record(
            "https://again.example/robots.txt", "sha1:A", "https://plain.example/robots.txt", DATE,
            http_headers=StatusAndHeaders("200 OK", [], protocol="HTTP/1.1")))


def main() -> None:
    program, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    want = {f"https://{host}.example/x": reason for host, *_, reason in CAPTURES}
    want["https://again.example/x"] = "no_robots"
    urls = "".join(url + "\n" for url in want)
    for name, compressed, version in [
        ("a.warc", False, "1.0"), ("b.warc", False, "1.1"), ("c.warc.gz", True, "1.0"), ("d.warc.gz", True, "1.1"),
    ]:
        write(scratch / name, compressed, version)
        done = subprocess.run(
            [program, "-in", "-", "-in-format", "text", "-rules", str(scratch / name), "-explain"],
            input=urls, capture_output=True, text=True, check=True)
        got = {row["url"]: row["reason"] for row in csv.DictReader(io.StringIO(done.stdout))}
        if got != want or "broken" in done.stderr:
            sys.exit(f"{name}: {got}, want {want}\n{done.stderr}")
        print(f"{name}: {len(got)} authorities as expected")


main()
