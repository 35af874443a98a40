"""Puts the program's binary into the wheel, under its scripts.

The wheel is for ROBOTSBATCH_TARGET, such as linux/arm64, else for this machine. It
has the binary that ROBOTSBATCH_BINARY names, else one that is built, with Go.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROJECT = Path(__file__).resolve().parents[2]

# A static binary needs no libc, so that one wheel serves glibc and musl.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def targets_sh(command: str, *args: str) -> str:
    """Runs a function of scripts/targets.sh and returns what it prints."""
    line = ["bash", "-c", 'source scripts/targets.sh; "$@"', "bash", command, *args]
    return subprocess.run(line, cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def version() -> str:
    """The version of the project, as its releases have it."""
    return os.environ.get("ROBOTSBATCH_VERSION") or targets_sh("release_version")


def host() -> str:
    """The target of this machine, as Go says it."""
    said = subprocess.run(["go", "env", "GOOS", "GOARCH"], check=True, stdout=subprocess.PIPE, text=True)
    return "/".join(said.stdout.split())


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        target = os.environ.get("ROBOTSBATCH_TARGET") or host()
        binary = os.environ.get("ROBOTSBATCH_BINARY")
        if not binary:
            self.folder = tempfile.TemporaryDirectory(prefix="robotsbatch.")
            binary = str(Path(self.folder.name, "robotsbatch"))
            targets_sh("build_target", target, binary)
        name = "robotsbatch.exe" if target.startswith("windows/") else "robotsbatch"
        build_data["shared_scripts"] = {binary: name}
        build_data["tag"] = f"py3-none-{TAGS[target]}"
        build_data["pure_python"] = False
