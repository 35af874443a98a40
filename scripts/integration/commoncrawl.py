"""Makes an archive like Common Crawl's: robots.txt fetches in WARC files, and their index as csv.

    commoncrawl.py HOSTS FILES

Hosts h0 to h(HOSTS-1) are in the frontier, and as many more are only in the archive. What a
host answers follows from its number: 3 of ten (mod 10) 404, 7 a redirect to the host before it,
or to that host's double in the second half, 9 503, the others rules: CCBot may fetch /open
alone where the number is a multiple of 4, and else nobody may fetch /private.
"""

import gzip
import os
import random
import sys


def member(host, kind, block):
    content = "application/warc-fields" if kind == "metadata" else "application/http; msgtype=response"
    head = (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2024-12-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{host}>\r\n"
            f"WARC-Target-URI: https://h{host}.example/robots.txt\r\nContent-Type: {content}\r\nContent-Length: {len(block)}\r\n\r\n")
    return gzip.compress(head.encode() + block + b"\r\n\r\n", 1)


def answer(host, hosts, filler):
    """Returns status, target and HTTP response."""
    kind = host % 10
    if kind == 3:
        return 404, "", b"HTTP/1.1 404 Not Found\r\n\r\nno"
    if kind == 7:
        target = f"https://h{host - 1 + (hosts if host < hosts and host % 20 == 17 else 0)}.example/robots.txt"
        return 301, target, f"HTTP/1.1 301 Moved\r\nLocation: {target}\r\n\r\n".encode()
    if kind == 9:
        return 503, "", b"HTTP/1.1 503 Unavailable\r\n\r\n"
    rules = "User-agent: CCBot\nDisallow: /\nAllow: /open\n" if host % 4 == 0 else "User-agent: *\nDisallow: /private\n"
    return 200, "", f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{rules}# {filler}\n".encode()


def main(hosts, files):
    seeded = random.Random(1)
    order = list(range(2 * hosts))
    seeded.shuffle(order)
    noise = seeded.randbytes(1 << 16).hex()
    with open("index.csv", "w") as index:
        print("url,url_host_name,fetch_time,fetch_status,fetch_redirect,warc_filename,warc_record_offset,warc_record_length", file=index)
        for number in range(files):
            name = f"crawl-data/CC-MAIN-2024-51/segments/1/robotstxt/CC-{number:05}.warc.gz"
            os.makedirs(os.path.dirname("archive/" + name), exist_ok=True)
            with open("archive/" + name, "wb") as out:
                for host in order[number::files]:
                    at = seeded.randrange(1 << 16)
                    status, target, response = answer(host, hosts, noise[at:at + seeded.randrange(1500)])
                    record = member(host, "response", response)
                    print(f"https://h{host}.example/robots.txt,h{host}.example,2024-12-01 00:00:00,{status},{target},{name},{out.tell()},{len(record)}", file=index)
                    out.write(record)
                    out.write(member(host, "metadata", b"fetchTimeMs: 7\r\n"))


main(int(sys.argv[1]), int(sys.argv[2]))
