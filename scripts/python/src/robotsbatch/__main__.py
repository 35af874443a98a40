"""python -m robotsbatch ... is robotsbatch ..."""

from __future__ import annotations

import os
import subprocess
import sys

from robotsbatch import find_robotsbatch_bin


def main() -> None:
    """Replace this process by the program, if the system allows that."""
    args = [find_robotsbatch_bin(), *sys.argv[1:]]
    if sys.platform == "win32":
        # On Windows exec starts another process and does not wait for it. Ctrl-C goes to
        # both processes, and the exit status is the program's.
        with subprocess.Popen(args) as child:
            while True:
                try:
                    sys.exit(child.wait())
                except KeyboardInterrupt:
                    pass
    os.execv(args[0], args)


if __name__ == "__main__":
    main()
