"""The examples in the docstrings, the README and the manual."""

import doctest
import re
from pathlib import Path

import pytest

import robotsbatch

HERE = Path(__file__).resolve().parent


def test_docstrings() -> None:
    pytest.importorskip("pandas")
    done = doctest.testmod(robotsbatch)
    assert done.attempted > 5 and done.failed == 0


def test_readme() -> None:
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    done = doctest.testfile(str(HERE.parent / "README.md"), module_relative=False)
    assert done.attempted > 1 and done.failed == 0


@pytest.mark.skipif(not HERE.parent.parent.name == "scripts", reason="the manual is not beside the tests")
def test_manual() -> None:
    for module in ("pandas", "polars", "duckdb"):
        pytest.importorskip(module)
    page = (HERE.parents[2] / "cmd/robotsbatch/manual/python.md").read_text()
    code = "\n".join(line[4:] for line in page.splitlines() if re.match("    (?!pip |robotsbatch |scripts/)", line))
    assert "evaluate" in code
    exec(code, {})
