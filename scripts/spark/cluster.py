"""Runs Spark's standalone master and two workers on 127.0.0.1, for tests.

    python cluster.py FOLDER CORES MEMORY

It writes FOLDER/url when both workers are there, and ends them all when its stdin
ends. Whatever they leave becomes a child of this process, as it is the
subreaper: so nothing escapes, and the processor time of all is that of this process
and those below it.
"""

import contextlib
import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyspark

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    folder, cores, memory = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise SystemExit("cluster.py: this system has no subreapers")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url = f"spark://127.0.0.1:{port}"
    start(folder, "master", "Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0")
    for i in range(2):
        flags = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", cores, "--memory", memory]
        start(folder, f"worker-{i}", "Worker", *flags, "--work-dir", str(folder / f"work-{i}"), url)
    threading.Thread(target=reap, daemon=True).start()
    try:
        wait_for_workers(folder / "master.log")
        (folder / "url.part").write_text(url)
        (folder / "url.part").rename(folder / "url")
        sys.stdin.read()
    finally:
        while left := children():  # those of a child that ended are children now
            for child in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.1)


def start(folder: Path, name: str, role: str, *args: str) -> None:
    home = Path(pyspark.__file__).parent
    local = folder / f"local-{name}"
    local.mkdir(parents=True)
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(local),
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with open(folder / f"{name}.log", "wb") as log:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role.lower()}.{role}", *args]
        subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def wait_for_workers(log: Path) -> None:
    for _ in range(3000):
        text = log.read_text()
        if len(set(re.findall(r"Registering worker \S+", text))) == 2:
            return
        time.sleep(0.1)
    raise SystemExit(f"cluster.py: no two workers after five minutes:\n{text}")


def reap() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(1)


def children() -> list[int]:
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


if __name__ == "__main__":
    main()
