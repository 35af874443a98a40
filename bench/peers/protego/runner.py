"""The runner of Protego, the parser of Scrapy."""

import json
import os
import sys
import time
from importlib.metadata import version

from protego import Protego


def parse(file):
    """The parsed file, None where it cannot be, and the seconds that took."""
    with open(file, "rb") as f:
        body = f.read()
    start = time.process_time()
    try:
        parsed = Protego.parse(body.decode("utf-8", "replace"))
    except Exception:
        parsed = None
    return parsed, time.process_time() - start


def load(rules, urls_file):
    """A pair of parsed file and URL for each line, and the seconds of parsing."""
    rows, files, seconds = [], {}, 0.0
    with open(urls_file, encoding="ascii", newline="\n") as f:
        for line in f:
            file, url, _ = line.split("\t", 2)
            if file not in files:
                files[file], took = parse(os.path.join(rules, file))
                seconds += took
            rows.append((files[file], url))
    return rows, seconds


def evaluate(rows, agent, verdicts, passes):
    for _ in range(passes):
        for i, (parsed, url) in enumerate(rows):
            try:
                verdicts[i] = parsed.can_fetch(url, agent)
            except Exception:
                verdicts[i] = 2


def main():
    rules, urls_file, agent, out, passes = sys.argv[1:]
    passes = int(passes)
    rows, seconds = load(rules, urls_file)
    verdicts = bytearray(len(rows))
    evaluate(rows, agent, verdicts, passes)  # to warm up
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    evaluate(rows, agent, verdicts, passes)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    with open(out, "wb") as f:
        f.write(verdicts)
    print(json.dumps({
        "name": "protego",
        "version": version("protego"),
        "urls": len(rows),
        "passes": passes,
        "cpu_ns_per_url": cpu / len(rows) / passes,
        "wall_ns_per_url": wall / len(rows) / passes,
        "parse_ms": seconds * 1e3,
    }))


main()
