"""The runner of Protego, the parser of Scrapy."""

import json
import sys
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from protego import Protego


def parse(file):
    """The parsed file, None where it cannot be, and the seconds that took."""
    body, parsed = file.read_bytes(), None
    start = time.process_time()
    with suppress(Exception):
        parsed = Protego.parse(body.decode("utf-8", "replace"))
    return parsed, time.process_time() - start


def load(rules, urls_file):
    """A pair of parsed file and URL for each line, and the seconds of parsing."""
    rows, files, seconds = [], {}, 0.0
    with open(urls_file, encoding="ascii", newline="\n") as f:
        for file, url, _ in (line.split("\t", 2) for line in f):
            if file not in files:
                files[file], took = parse(Path(rules, file))
                seconds += took
            rows.append((files[file], url))
    return rows, seconds


def alone(rows, agent, verdicts):
    for i, (parsed, url) in enumerate(rows):
        try:
            verdicts[i] = parsed.can_fetch(url, agent)
        except Exception:
            verdicts[i] = 2


def from_url(rows, origins, agent, verdicts):
    for i, (_, url) in enumerate(rows):
        try:
            verdicts[i] = origins[urlsplit(url)[:2]].can_fetch(url, agent)
        except Exception:
            verdicts[i] = 2


def measure(rows, passes, evaluate, *arguments):
    """The verdicts, and the nanoseconds a URL of the processor and on the wall."""
    verdicts = bytearray(len(rows))
    for _ in range(2):  # the first to warm up
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        for _ in range(passes):
            evaluate(rows, *arguments, verdicts)
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    return verdicts, cpu / len(rows) / passes, wall / len(rows) / passes


def main():
    rules, urls_file, agent, out, passes = sys.argv[1:]
    rows, seconds = load(rules, urls_file)
    origins = {}
    for parsed, url in rows:
        with suppress(ValueError):
            origins[urlsplit(url)[:2]] = parsed
    verdicts, cpu, wall = measure(rows, int(passes), alone, agent)
    of_job, job_cpu, job_wall = measure(rows, int(passes), from_url, origins, agent)
    Path(out).write_bytes(verdicts + of_job)
    print(json.dumps({
        "version": version("protego"), "parse_ms": seconds * 1e3,
        "cpu_ns_per_url": cpu, "wall_ns_per_url": wall,
        "job_cpu_ns_per_url": job_cpu, "job_wall_ns_per_url": job_wall,
    }))


main()
