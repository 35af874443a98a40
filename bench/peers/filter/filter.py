"""Puts a filter for training data, fourteen crawlers and everyone, of whom any denial drops
a page, beside PyPI's protego in a loop: one robotsbatch command and one loop over the same
list of URLs and folder of robots.txt files. It counts verdicts, explains each kind of
difference by an example, and compares the CPU time. Then it holds what survey says is all
or none denied against protego on many paths of each file.

    filter.py ROBOTSBATCH FOLDER URLS.txt SCRATCH
"""

import collections
import csv
import os
import re
import resource
import subprocess
import sys
import time
import urllib.parse

from protego import Protego

robotsbatch, folder, urls, scratch = sys.argv[1:]
AGENTS = ["AI2Bot", "Applebot-Extended", "Bytespider", "CCBot", "CCBot-Beta", "ClaudeBot", "cohere-training-data-crawler", "Diffbot",
          "GPTBot", "Google-Extended", "Meta-ExternalAgent", "omgili", "PanguBot", "Timpibot", "*"]


def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


# robotsbatch: one command.
agents, out = os.path.join(scratch, "filter-agents.txt"), os.path.join(scratch, "filter.csv")
with open(agents, "w") as f:
    f.write("\n".join(AGENTS))
before, started = cpu(resource.RUSAGE_CHILDREN), time.time()
subprocess.run([robotsbatch, "-in", urls, "-rules", folder, "-agents", agents, "-agents-as", "any-denied", "-out", out, "-quiet"], check=True)
ours_cpu, ours_wall = cpu(resource.RUSAGE_CHILDREN) - before, time.time() - started

# protego in a loop: a robots.txt is parsed once a host, as its name says.
before, started = cpu(), time.time()
theirs, parsers = [], {}
with open(urls, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
    for line in f:
        url = line.rstrip("\n")
        try:
            host = urllib.parse.urlsplit(url.strip()).hostname or ""
        except ValueError:
            host = ""
        if host not in parsers:
            try:
                with open(os.path.join(folder, host), encoding="utf-8", errors="ignore") as body:
                    parsers[host] = Protego.parse(body.read())
            except (OSError, ValueError):
                parsers[host] = None
        parser = parsers[host]
        if parser is None:
            theirs.append(True)
            continue
        try:
            theirs.append(all(parser.can_fetch(url, agent) for agent in AGENTS))
        except Exception:  # what its own URL parser refuses
            theirs.append(None)
their_cpu, their_wall = cpu() - before, time.time() - started

with open(out, encoding="utf-8", errors="surrogateescape", newline="") as f:
    rows = list(csv.DictReader(f))
with open(urls, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
    kept = [i for i, line in enumerate(f) if line.strip()]
theirs = [theirs[i] for i in kept]
assert len(theirs) == len(rows), (len(theirs), len(rows))


def groups_alone(host):
    """protego's parser of a file without the records that belong to no group (RFC 9309
    §2.2.4): a crawl-delay between user-agent lines does not part them, and protego takes
    it for a part of the group."""
    with open(os.path.join(folder, host), encoding="utf-8", errors="ignore") as body:
        return Protego.parse("\n".join(l for l in body.read().splitlines() if re.match(r"(?i)\s*(user-?agent|(dis)?allow)\s*:", l)))


def is_utf8(host):
    with open(os.path.join(folder, host), "rb") as body:
        try:
            body.read().decode()
        except UnicodeDecodeError:
            return False
    return True


OTHER_RECORDS = "a crawl-delay or another record between user-agent lines, which parts them for protego alone (RFC 9309 §2.2.4)"


def kind(row, verdict):
    """Why two verdicts differ, as far as the URL and the file tell."""
    url = row["url"].strip()
    if row["allowed"] == "":
        return "no URL for robotsbatch (invalid or another scheme); protego guesses"
    if verdict is None:
        return "protego refuses the URL"
    parts = re.match(r"(?i)(\w+)://([^/?#;]*)", url)
    authority = parts.group(2).rpartition("@")[2]
    if re.search(r":(?!80$|443$)\d+$", authority) or parts.group(1).lower() == "https" and authority.endswith(":80"):
        return "another port: the file is for the default ports"
    alone = groups_alone(urllib.parse.urlsplit(url).hostname)
    if all(alone.can_fetch(url, agent) for agent in AGENTS) == (row["allowed"] == "true"):
        return OTHER_RECORDS
    if "%" in url or any(c in url for c in ' "<>[]^`{|}\\') or not url.isascii():
        return "spelling: escapes and characters that need one"
    return "rules"


same, kinds, examples = collections.Counter(), collections.Counter(), {}
for row, verdict in zip(rows, theirs):
    ours = {"true": True, "false": False, "": None}[row["allowed"]]
    if ours == verdict:
        same[ours] += 1
        continue
    k = kind(row, verdict) + (": denied by robotsbatch alone" if ours is False else ": denied by protego alone" if verdict is False else "")
    kinds[k] += 1
    examples.setdefault(k, (row["url"][:120], row["denied_by"][:80]))
print(f"{len(rows):,} URLs, {len(parsers):,} hosts, {sum(p is not None for p in parsers.values()):,} with a file, {len(AGENTS)} agents, dropped when any is denied")
print(f"same verdict: {sum(same.values()):,} ({same[True]:,} kept, {same[False]:,} dropped, {same[None]:,} without)")
for k, n in kinds.most_common():
    print(f"  {n:7,}  {k}\n           e.g. {examples[k][0]}  {examples[k][1]}")
print(f"CPU: robotsbatch {ours_cpu:.2f} s, protego {their_cpu:.2f} s: {their_cpu / ours_cpu:.0f} times; elapsed {ours_wall:.2f} s and {their_wall:.2f} s")

# What is all or none denied, against protego on paths made of each file's rules.
survey = os.path.join(scratch, "filter-survey.csv")
subprocess.run([robotsbatch, "survey", "-rules", folder, "-agents", agents, "-out", survey, "-quiet"], check=True)
files, tried, wrong, explained = collections.Counter(), 0, [], collections.Counter()
with open(survey, encoding="utf-8", newline="") as f:
    for row in csv.DictReader(f):
        host = row["authority"].removeprefix("https://")
        if not row["authority"].startswith("https://") or row["blocked"] == "some" or row["agent"] not in ("GPTBot", "CCBot", "*"):
            continue
        try:
            with open(os.path.join(folder, host), encoding="utf-8", errors="ignore") as body:
                text = body.read()
        except OSError:
            continue
        parser, files[row["blocked"], host] = Protego.parse(text), 1
        paths = ["/", "/index.html", "/a/b/c?d=e", "/~x", "/zz.pdf"]
        for value in re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*(\S+)", text)[:200]:
            for star in ("", "x", "/y"):
                path = value.rstrip("$").replace("*", star)
                paths += [path, path + "x"] if path.startswith("/") and not value.endswith("$") else [path] * path.startswith("/")
        for path in paths:
            if path == "/robots.txt" or "#" in path:
                continue
            tried += 1
            if parser.can_fetch("https://" + host + path, row["agent"]) != (row["blocked"] == "none"):
                if groups_alone(host).can_fetch("https://" + host + path, row["agent"]) == (row["blocked"] == "none"):
                    explained[OTHER_RECORDS] += 1
                elif not is_utf8(host):
                    explained["bytes that are not UTF-8, which the loop leaves out: *\\xA0 becomes *"] += 1
                else:
                    wrong.append((row["blocked"], row["agent"], host, path[:80]))
print(f"survey: {sum(1 for b, _ in files if b == 'all')} files that deny all and {sum(1 for b, _ in files if b == 'none')} that deny none "
      f"to an agent, {tried:,} paths of these: {sum(explained.values()) + len(wrong)} other verdicts of protego, {len(wrong)} unexplained")
for reason, n in explained.most_common():
    print(f"  {n:7,}  {reason}")
for w in wrong[:12]:
    print("  ", *w)
