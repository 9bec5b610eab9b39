"""The page and the picture, made of nothing but what one run measured: `docs/speed.md`, `docs/speed.svg`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.bench.growth import Growth

ROOT = Path(__file__).parents[2]
MEASURED = Path(__file__).with_name("measured.json")
PAGE, PICTURE = ROOT / "docs" / "speed.md", ROOT / "docs" / "speed.svg"
METHOD = """\
{some} Python files of {packages}, downloaded from PyPI and never imported: {count:,} files, {lines:,} lines, of which
{with_torch_count:,} files with {with_torch_lines:,} lines mention torch; each lies in its package, with everything that
it imports of that. Each tool is installed from PyPI in a virtual environment of its own; torchlint is built from the
checkout and installed as a wheel, its model compiled by mypyc as in released wheels; one row
says what the same source takes as it is installed from source. All rules are on. CPU seconds are those of a
command and all its processes, user and system, as the operating system counts them; memory is the sum over its
processes at the highest point seen in five looks a second, pages that several share divided among them. Bare parsing is
`libcst.parse_module` of the files that mention torch, with the garbage collector off, as torchlint does it. Every
command is run several times and the least is taken, for whatever else the machine does only adds; those that are
compared are run by turns. Only what fills a cache is run once. Warm runs, those that fill a cache, and the files of
1,000 lines are of all files of the packages ({all_count:,} with {all_lines:,} lines)."""
MACHINE = """\
{processor}, {cores} cores; Python {python}; {names}. Load of the machine: {before} at the beginning, {after} at the end
(0 is a quiet machine, and the benchmark itself makes 1 or 2; on a busy one wall seconds say little, and CPU seconds are
too high for all)."""
CUT = """\
This run was cut short: {missing} not measured."""
RUFF = """\
`ruff check` keeps only results of files without findings, and its default rules find something in almost every file of
these packages; with `--select E9,F63,F7` it finds next to nothing, and its cache answers."""
GROWTH = """\
CPU seconds for one file of programs made of one thing, at one, two and four times a size. An exponent of 1 is linear, 2
quadratic; below 1 a budget takes hold."""
AS_PYTHON = "torchlint, one job, nothing compiled"
FILLING = "torchlint, filling, all cores"
FILLING_ALONE = "torchlint, filling, one job"
PARTS = ("start", "editor", "warm", "cold", "flake8", "growth")
_Figures = Mapping[str, Any]


def write(measured: _Figures) -> None:
    """Keep what was measured, and make the page and the picture of it."""
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(measured), encoding="utf-8")
    PICTURE.write_text(picture(measured), encoding="utf-8")


def page(measured: _Figures) -> str:
    """`docs/speed.md`."""
    return "\n".join(_page(measured)) + "\n"


def _page(measured: _Figures) -> Iterator[str]:
    files, tools = measured["files"], measured["tools"]
    packages = ", ".join(f"{name} {version}" for name, version in measured["packages"].items())
    some = "All" if measured["every"] == 1 else f"Every {_ordinal(measured['every'])} of the"
    yield "# Speed"
    yield ""
    yield "Made by `python -m tests.bench --write`, which measured all of this in one run: no figure was typed."
    yield ""
    yield "![CPU seconds of each tool on the same files](speed.svg)"
    yield ""
    yield "## Method"
    yield ""
    yield METHOD.format(some=some, packages=packages, **files)
    yield ""
    names = ", ".join(f"{name} {version}" for name, version in tools.items())
    load = {when: measured.get(f"load {when}") for when in ("before", "after")}
    shown = {when: "not noted" if value is None else f"{value:.1f}" for when, value in load.items()}
    yield MACHINE.format(names=names, **shown, **measured)
    yield ""
    missing = [part for part in PARTS if part not in measured]
    if missing:
        yield CUT.format(missing=f"{', '.join(missing)} {'was' if len(missing) == 1 else 'were'}")
        yield ""
    yield "## Ratios"
    yield ""
    yield from _table(["", "measured", "target"], ratios(measured))
    yield ""
    for title, part in (
        ("Cold: nothing is known of the files", "cold"),
        ("Warm: nothing changed", "warm"),
        ("Start", "start"),
        ("flake8, with and without the plugin", "flake8"),
    ):
        if part not in measured:
            continue
        yield f"## {title}"
        yield ""
        rows = [
            [name, _seconds(each["cpu"]), _seconds(each["wall"]), f"{each['memory'] / 1e6:.0f}"]
            for name, each in measured[part].items()
        ]
        yield from _table(["", "CPU s", "wall s", "memory MB"], rows)
        yield ""
    yield RUFF
    if "growth" in measured:
        yield from ("", "## Growth", "", GROWTH, "")
        yield from _table(
            ["", "size", "once", "twice", "four times", "exponent"],
            [
                [each.family, f"{each.size:,}", *map(_seconds, each.seconds), f"{each.exponent:.2f}"]
                for each in _growth(measured)
            ],
        )


def ratios(measured: _Figures) -> list[list[str]]:
    """What is measured, how it came out, and what was wanted; of the parts that were run."""
    jobs = measured["jobs"]
    found: list[list[str]] = []
    if "cold" in measured:
        cold = measured["cold"]
        one, all_cores = cold["torchlint, one job"], cold["torchlint, all cores"]
        bare, torchfix = cold["libcst.parse_module"]["cpu"], cold["TorchFix, one job"]["cpu"]
        found += [
            ["cold, one job, CPU, against bare `libcst.parse_module`", _ratio(one["cpu"], bare), "≤ 1.4"],
            ["cold, one job, CPU: TorchFix takes as many times as long", _ratio(torchfix, one["cpu"]), "≥ 15"],
            ["the first of these, nothing compiled", _ratio(cold[AS_PYTHON]["cpu"], bare), ""],
            [f"cold, wall: one job against {jobs} jobs, start included", _ratio(one["wall"], all_cores["wall"]), ""],
        ]
    if "warm" in measured:
        alone, together = measured["warm"][FILLING_ALONE], measured["warm"][FILLING]
        found += [
            [f"all files, wall: one job against {jobs} jobs", _ratio(alone["wall"], together["wall"]), "≥ 1.7"],
            [f"all files, CPU: {jobs} jobs against one", _ratio(together["cpu"], alone["cpu"]), "1"],
            [f"all files, memory with {jobs} jobs, MB", f"{together['memory'] / 1e6:.0f}", "≤ 1500"],
        ]
        unchanged = measured["warm"]["torchlint, unchanged"]["cpu"]
        for ruff in ("ruff check", "ruff check --select E9,F63,F7"):
            other = measured["warm"][f"{ruff}, unchanged"]["cpu"]
            found.append([f"warm, CPU, against `{ruff}` warm", _ratio(unchanged, other), "≤ 2"])
    if "start" in measured:
        cpu = {name: each["cpu"] for name, each in measured["start"].items()}
        floor = cpu["python -c pass"]
        version = _ratio(cpu["torchlint --version"], floor + 2 * cpu["ruff --version"])
        one_file = _ratio(cpu["torchlint check one_file.py, unchanged"], floor + 2 * cpu["ruff check one_file.py"])
        found += [
            ["`torchlint --version`, CPU, against Python's own start and twice ruff's", version, "≤ 1"],
            ["one file, unchanged, CPU, against Python's own start and twice ruff's check", one_file, "≤ 1"],
        ]
    if "editor" in measured:
        editor = measured["editor"]
        what = f"1,000 lines in a warm process, median of {editor['files']} files, ms"
        found.append([what, f"{editor['median'] * 1000:.0f}", "≤ 50"])
    if "flake8" in measured:
        for kind, wanted in (("without torch", "1"), ("with torch", "")):
            both, alone = (measured["flake8"][f"{kind}, {name}"]["cpu"] for name in ("with torchlint", "alone"))
            found.append([f"flake8 on files {kind}, CPU, with the plugin against without", _ratio(both, alone), wanted])
    if "growth" in measured:
        steepest = max(_growth(measured), key=lambda each: each.exponent)
        found.append([f"growth, largest exponent ({steepest.family})", f"{steepest.exponent:.2f}", "1"])
    return found


def _growth(measured: _Figures) -> list[Growth]:
    return [Growth(each["family"], each["size"], tuple(each["seconds"])) for each in measured["growth"]]


def picture(measured: _Figures) -> str:
    """Bars: CPU seconds per 1,000 lines, cold and warm. The colours are read on white and on black."""
    cold, warm = measured["cold"], measured["warm"]
    lines_cold, lines_warm = measured["files"]["lines"], measured["files"]["all_lines"]
    bars = [
        ("TorchFix", cold["TorchFix, one job"]["cpu"] / lines_cold, False),
        ("libcst.parse_module, bare", cold["libcst.parse_module"]["cpu"] / lines_cold, False),
        ("torchlint, cold", cold["torchlint, one job"]["cpu"] / lines_cold, True),
        ("torchlint, nothing changed", warm["torchlint, unchanged"]["cpu"] / lines_warm, True),
        ("ruff, cold", cold["ruff check"]["cpu"] / lines_cold, False),
        ("ruff, nothing changed", warm["ruff check, unchanged"]["cpu"] / lines_warm, False),
    ]
    most = max(seconds for _, seconds, _ in bars)
    left, width, step = 210, 400, 30
    height = 44 + step * len(bars)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="14">',
        "<title>CPU milliseconds per 1,000 lines</title>",
        "<style>text { fill: #1f2328 } .own { fill: #d9480f } .other { fill: #8c959f }",
        "@media (prefers-color-scheme: dark) {",
        "text { fill: #e6edf3 } .own { fill: #ff8a4c } .other { fill: #6e7681 }",
        "}</style>",
        '<text x="0" y="18" font-weight="600">CPU milliseconds per 1,000 lines</text>',
    ]
    for number, (name, seconds, own) in enumerate(bars):
        y = 36 + step * number
        kind = "own" if own else "other"
        length = max(1.0, width * seconds / most)
        each = seconds * 1e6
        shown = f"{each:,.0f}" if each >= 10 else f"{each:.2g}"
        lines += [
            f'<text x="{left - 10}" y="{y + 16}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{left}" y="{y + 3}" width="{length:.1f}" height="18" rx="2"/>',
            f'<text x="{left + length + 8:.1f}" y="{y + 16}">{shown}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(head) - 1)])} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _ratio(one: float, other: float) -> str:
    ratio = one / max(other, 1e-9)
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
