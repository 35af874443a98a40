"""Find the binary that was installed with the package."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def find_robotsbatch_bin() -> str:
    """Return the path of the program's binary.

    ``ROBOTSBATCH_BIN`` names a binary to use instead of the package's own. The package's
    binary is among the scripts of the environment, of the user (``pip install --user``), or
    next to the package (``pip install --target`` and ``--prefix``).

    Raises:
        FileNotFoundError: no binary was found; the message lists the places searched.
    """
    if named := os.environ.get("ROBOTSBATCH_BIN"):
        if not os.path.isfile(named):
            raise FileNotFoundError(f"ROBOTSBATCH_BIN names {named}, which is not a file")
        return named
    name = "robotsbatch.exe" if sys.platform == "win32" else "robotsbatch"
    looked = []
    for folder in dict.fromkeys(_folders()):
        path = folder / name
        if path.is_file():
            return str(path)
        looked.append(str(path))
    raise FileNotFoundError(f"the binary of robotsbatch is not there: looked for {', '.join(looked)}; install the wheel again, or name a binary with ROBOTSBATCH_BIN or binary=")


def _folders() -> Iterator[Path]:
    package = Path(__file__).resolve().parent.parent  # site-packages, or the folder of --target
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    yield package / scripts  # --target
    # --prefix, or an environment that uses the interpreter of another environment:
    # lib/python3.x/site-packages, on Windows Lib/site-packages.
    for up in package.parents[:3]:
        yield up / scripts
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
