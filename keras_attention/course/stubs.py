"""Making the exercises from the solutions.

In a solution, what the learner writes stands between two comments:

    # SOLUTION
    …
    # END

The stub has in its place a line that says so and raises `NotImplementedError`. After `# SOLUTION:` may follow
what the stub has instead, in the same line.

    python -m keras_attention.course.stubs
"""

import ast
import re
import sys
from pathlib import Path

REGION = re.compile(r"^( *)# SOLUTION(?::([^\n]*))?\n(.*?)^ *# END\n", re.MULTILINE | re.DOTALL)
HEADER = "# ruff: noqa: F401 (what is imported is for you to use)\n"


def stub(solution: str) -> str:
    """The text of the exercise. Raises `ValueError` if there is nothing to solve, or a comment is alone."""
    text, count = REGION.subn(_to_write, solution)
    if not count or re.search(r"# (SOLUTION|END)\b", text):
        raise ValueError("A solution needs pairs of `# SOLUTION` and `# END`, each in a line of its own.")
    return HEADER + text


def without_docstrings(solution: str) -> str:
    """The code of a solution alone, for one who has read the task."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(solution)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            left_out.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = [line for number, line in enumerate(solution.splitlines(), 1) if number not in left_out]
    return "\n".join(line for line in lines if line.strip() not in ("# SOLUTION", "# END")).strip()


def _to_write(region: re.Match[str]) -> str:
    indent, instead = region[1], region[2]
    if instead is not None:
        return f"{indent}{instead.strip()}\n" if instead.strip() else ""
    return f"{indent}# your code · 你的代码\n{indent}raise NotImplementedError\n"


def write(solutions: Path, exercises: Path) -> list[Path]:
    """Write the stubs of all solutions; those that have changed."""
    changed = []
    for path in sorted(solutions.glob("ex[0-9][0-9]_*.py")):
        text, target = stub(path.read_text(encoding="utf-8")), exercises / path.name
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8", newline="\n")
            changed.append(target)
    return changed


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    for changed in write(root / "solutions", root / "exercises"):
        sys.stdout.write(f"{changed.relative_to(root)}\n")
