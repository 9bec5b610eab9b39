"""
The fixtures of TorchFix's own tests, as a yardstick: what they ask for and what torchlint says and writes there.

`checker/NAME.py` has beside it `NAME.txt` with a line `LINE:COLUMN CODE …` for each finding; `codemod/NAME.in.py` has
`NAME.out.py` (formerly `NAME.py`, `NAME.py.out`). Reads a folder that the caller has; nothing of it is kept here, and
nothing is imported or run.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .joined import KIND_OF, Said

EXPECTED = re.compile(r"(?P<line>\d+):\d+ (?P<code>TOR\d+)")


@dataclass(frozen=True)
class Asked:
    """
    A finding that a fixture asks for.

    Attributes
    ----------
    found
        What torchlint says of the same line and kind; else of that kind in other lines of the file.
    """

    path: str
    line: int
    code: str
    found: tuple[Said, ...]

    @property
    def is_found(self) -> bool:
        """At that very line."""
        return any(each.line == self.line for each in self.found)


@dataclass(frozen=True)
class Rewritten:
    """
    A statement that a fixture wants rewritten, and what the fixes write.

    Attributes
    ----------
    before, wanted, written
        Statements, with names in full.
    """

    path: str
    before: str
    wanted: str
    written: str

    @property
    def verdict(self) -> str:
        """Equal as programs, another text, or left as it was."""
        if self.written == self.wanted:
            return "equal"
        return "not fixed" if self.written == self.before else "other"


def asked(folder: Path, said: list[Said]) -> Iterator[Asked]:
    """What `checker` fixtures ask for, by path and line, beside what was said of the folder."""
    for expected in sorted(folder.rglob("checker/*.txt")):
        path = expected.with_suffix(".py").relative_to(folder).as_posix()
        for match in map(EXPECTED.match, expected.read_text().splitlines()):
            if match:
                line, code = int(match["line"]), match["code"]
                kind = KIND_OF.get(code)
                near = [each for each in said if kind and each.path == path and each.kind == kind]
                yield Asked(path, line, code, tuple([each for each in near if each.line == line] or near))


def unasked(folder: Path, said: list[Said]) -> list[Said]:
    """What torchlint says in `checker` fixtures, in a kind that TorchFix has, where they ask for nothing."""
    places = {(each.path, each.line) for each in asked(folder, said)}
    return sorted(
        each
        for each in set(said)
        if "checker" in each.path.split("/") and each.kind and (each.path, each.line) not in places
    )


def pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The files of `codemod` fixtures before and after."""
    for path in sorted(folder.rglob("codemod/*.py")):
        if path.name.endswith(".in.py"):
            yield path, path.with_name(path.name.replace(".in.py", ".out.py"))
        elif path.with_name(path.name + ".out").exists():
            yield path, path.with_name(path.name + ".out")


def rewritten(folder: Path, target: str) -> Iterator[Rewritten]:
    """
    What `torchlint check --fix --unsafe-fixes` writes for the `codemod` fixtures, in a copy of them.

    Raises
    ------
    subprocess.CalledProcessError
        It ended with an internal error.
    """
    with tempfile.TemporaryDirectory() as copied:
        copy = Path(copied)
        for before, _ in pairs(folder):
            place = copy / before.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(before, place)
        options = ["--no-cache", "--isolated", "--strict", "--target-torch", target, "--fix", "--unsafe-fixes"]
        command = [sys.executable, "-m", "torchlint", "check", *options, "--exit-zero", "."]
        subprocess.run(command, cwd=copy, capture_output=True, check=True)
        for before, after in pairs(folder):
            written = (copy / before.relative_to(folder)).read_text()
            yield from compared(before.relative_to(folder).as_posix(), before.read_text(), after.read_text(), written)


def compared(path: str, before: str, wanted: str, written: str) -> Iterator[Rewritten]:
    """
    The statements of three versions of a program that are not the same in all, imports aside.

    Raises
    ------
    ValueError
        One version has more statements than another.
    """
    for one, two, three in zip(*map(_statements, (before, wanted, written)), strict=True):
        if not one == two == three:
            yield Rewritten(path, one, two, three)


def _statements(text: str) -> list[str]:
    """
    The statements but for imports, those of a block one by one, without their layout and comments.

    Names are written as what their imports bind them to: whether `ger` or `outer as ger` is imported shows where they
    are used.
    """
    bound: dict[str, str] = {}
    found = []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    for node in sorted(nodes, key=lambda each: each.lineno):
        if isinstance(node, ast.Import):
            bound.update({each.asname: each.name for each in node.names if each.asname})
            bound.update({each.name.partition(".")[0]: each.name.partition(".")[0] for each in node.names})
        elif isinstance(node, ast.ImportFrom):
            bound.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
        else:
            found.append(ast.unparse(_InFull(bound).visit(node)))
    return found


class _InFull(ast.NodeTransformer):
    """Names as what they are bound to."""

    def __init__(self, bound: dict[str, str]) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The full name, as an expression."""
        return ast.parse(self.bound.get(node.id, node.id), mode="eval").body


def table(folder: Path, said: list[Said], target: str) -> Iterator[str]:
    """The report, line by line."""
    wanted = list(asked(folder, said))
    for each in wanted:
        answers = sorted({f"{one.code} {one.message.partition(' ')[0]}" for one in each.found})
        lines = (
            "" if each.is_found else f" at {', '.join(str(line) for line in sorted({one.line for one in each.found}))}"
        )
        yield f"{each.path}:{each.line} {each.code}: {', '.join(answers) + lines if answers else '–'}"
    for one in unasked(folder, said):
        yield f"{one.path}:{one.line} not asked for: {one.code} {one.message}"
    fixes = list(rewritten(folder, target))
    for fix in fixes:
        yield f"{fix.path}: {fix.verdict}: {fix.before!r} → {fix.wanted!r}, here {fix.written!r}"
    yield (
        f"{sum(each.is_found for each in wanted)} of {len(wanted)} findings at their line, "
        f"{sum(bool(each.found) and not each.is_found for each in wanted)} at another mention of the file"
    )
    yield f"{sum(fix.verdict == 'equal' for fix in fixes)} of {len(fixes)} statements rewritten equally"
