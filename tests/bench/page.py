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
{with_torch_count:,} files with {with_torch_lines:,} lines mention torch. Each tool is installed from PyPI in a virtual
environment of its own; torchlint is built from the checkout and installed as a wheel. All rules are on. CPU seconds
are those of a command and all its processes, user and system, as the operating system counts them; memory is the sum
over its processes at the highest point seen in five looks a second, pages that several share divided among them. Bare
parsing is `libcst.parse_module` of the files that mention torch, with the garbage collector off, as torchlint does it.
What is short is repeated and the least is taken: whatever else the machine does only adds."""
MACHINE = """\
{processor}, {cores} cores; Python {python}; {names}. Load of the machine when it began: {load:.1f} (0 is a quiet
machine; on a busy one wall seconds say little, and CPU seconds are too high for all)."""
RUFF = """\
`ruff check` keeps only results of files without findings, and its default rules find something in almost every file of
these packages; with `--select E9,F63,F7` it finds next to nothing, and its cache answers."""
GROWTH = """\
CPU seconds for one file of programs made of one thing, at one, two and four times a size. An exponent of 1 is linear, 2
quadratic; below 1 a budget takes hold."""
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
    yield MACHINE.format(names=names, load=measured["load before"], **measured)
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
        yield f"## {title}"
        yield ""
        rows = [
            [name, _seconds(each["cpu"]), _seconds(each["wall"]), f"{each['memory'] / 1e6:.0f}"]
            for name, each in measured[part].items()
        ]
        yield from _table(["", "CPU s", "wall s", "memory MB"], rows)
        yield ""
    yield RUFF
    yield ""
    yield "## Growth"
    yield ""
    yield GROWTH
    yield ""
    grown = [Growth(each["family"], each["size"], tuple(each["seconds"])) for each in measured["growth"]]
    yield from _table(
        ["", "size", "once", "twice", "four times", "exponent"],
        [[each.family, f"{each.size:,}", *map(_seconds, each.seconds), f"{each.exponent:.2f}"] for each in grown],
    )


def ratios(measured: _Figures) -> list[list[str]]:
    """What is measured, how it came out, and what was wanted."""
    cold, warm, start, flake = (measured[part] for part in ("cold", "warm", "start", "flake8"))
    one = cold["torchlint, one job"]
    floor = start["python -c pass"]["cpu"]
    growth = max(Growth(each["family"], each["size"], tuple(each["seconds"])).exponent for each in measured["growth"])
    return [
        [
            "cold, one job, CPU, against bare `libcst.parse_module`",
            _ratio(one["cpu"], cold["libcst.parse_module"]["cpu"]),
            "≤ 1.4",
        ],
        [
            "cold, one job, CPU: TorchFix takes as many times as long",
            _ratio(cold["TorchFix, one job"]["cpu"], one["cpu"]),
            "≥ 15",
        ],
        [
            f"cold, wall: one job against {measured['jobs']} jobs",
            _ratio(one["wall"], cold["torchlint, all cores"]["wall"]),
            "≥ 1.7",
        ],
        [
            f"cold, CPU: {measured['jobs']} jobs against one",
            _ratio(cold["torchlint, all cores"]["cpu"], one["cpu"]),
            "1",
        ],
        [
            f"memory with {measured['jobs']} jobs, MB",
            f"{max(cold['torchlint, all cores']['memory'], warm['torchlint, filling']['memory']) / 1e6:.0f}",
            "≤ 1500",
        ],
        [
            "warm, CPU, against `ruff check` warm",
            _ratio(warm["torchlint, unchanged"]["cpu"], warm["ruff check, unchanged"]["cpu"]),
            "≤ 2",
        ],
        [
            "warm, CPU, against `ruff check --select E9,F63,F7` warm",
            _ratio(warm["torchlint, unchanged"]["cpu"], warm["ruff check --select E9,F63,F7, unchanged"]["cpu"]),
            "≤ 2",
        ],
        [
            "`torchlint --version`, CPU, against Python's own start and twice ruff's",
            _ratio(start["torchlint --version"]["cpu"], floor + 2 * start["ruff --version"]["cpu"]),
            "≤ 1",
        ],
        [
            "one file, unchanged, CPU, against Python's own start and twice ruff's check",
            _ratio(
                start["torchlint check one_file.py, unchanged"]["cpu"],
                floor + 2 * start["ruff check one_file.py"]["cpu"],
            ),
            "≤ 1",
        ],
        [
            f"1,000 lines in a warm process, median of {measured['editor']['files']} files, ms",
            f"{measured['editor']['median'] * 1000:.0f}",
            "≤ 50",
        ],
        [
            "flake8 on files without torch, CPU, with the plugin against without",
            _ratio(flake["without torch, with torchlint"]["cpu"], flake["without torch, alone"]["cpu"]),
            "1",
        ],
        [
            "flake8 on files with torch, CPU, with the plugin against without",
            _ratio(flake["with torch, with torchlint"]["cpu"], flake["with torch, alone"]["cpu"]),
            "",
        ],
        ["growth, largest exponent", f"{growth:.2f}", "1"],
    ]


def picture(measured: _Figures) -> str:
    """Bars: CPU seconds per 1,000 lines, cold and warm. The colours are read on white and on black."""
    cold, warm = measured["cold"], measured["warm"]
    thousands = measured["files"]["lines"] / 1000
    bars = [
        ("TorchFix", cold["TorchFix, one job"]["cpu"], False),
        ("libcst.parse_module, bare", cold["libcst.parse_module"]["cpu"], False),
        ("torchlint, cold", cold["torchlint, one job"]["cpu"], True),
        ("torchlint, nothing changed", warm["torchlint, unchanged"]["cpu"], True),
        ("ruff, cold", cold["ruff check"]["cpu"], False),
        ("ruff, nothing changed", warm["ruff check, unchanged"]["cpu"], False),
    ]
    most = max(seconds for _, seconds, _ in bars)
    left, width, step = 210, 400, 30
    height = 44 + step * len(bars)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="14">',
        "<title>CPU milliseconds per 1,000 lines, on the same files</title>",
        "<style>text { fill: #1f2328 } .own { fill: #d9480f } .other { fill: #8c959f }",
        "@media (prefers-color-scheme: dark) {",
        "text { fill: #e6edf3 } .own { fill: #ff8a4c } .other { fill: #6e7681 }",
        "}</style>",
        '<text x="0" y="18" font-weight="600">CPU milliseconds per 1,000 lines, on the same files</text>',
    ]
    for number, (name, seconds, own) in enumerate(bars):
        y = 36 + step * number
        kind = "own" if own else "other"
        length = max(1.0, width * seconds / most)
        each = seconds / thousands * 1000
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
