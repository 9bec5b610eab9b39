"""What is joined and what is not."""

from __future__ import annotations

from pathlib import Path

from .joined import EXPLAINED, KIND_OF, KINDS, UNEXPLAINED, Said, joined, table
from .tools import read_flake8


def said(tool: str, code: str, line: int = 3, path: str = "a.py") -> Said:
    """A finding whose message does not matter."""
    return Said(path, line, tool, code, "")


def test_one_line_and_kind_is_one_place() -> None:
    """Two tools that speak of the same thing in their own codes."""
    (place,) = joined([said("torchlint", "TLN902"), said("TorchFix", "TOR101")])
    assert (place.path, place.line, place.kind, place.tools) == ("a.py", 3, "api", ("TorchFix", "torchlint"))


def test_another_line_file_or_kind_is_another_place() -> None:
    """None of them is said twice."""
    others = [said("TorchFix", "TOR101", line=4), said("TorchFix", "TOR101", path="b.py"), said("TorchFix", "TOR102")]
    places = joined([said("torchlint", "TLN902"), *others])
    assert [(each.path, each.line, each.kind, each.tools) for each in places] == [
        ("a.py", 3, "api", ("torchlint",)),
        ("a.py", 3, "load", ("TorchFix",)),
        ("a.py", 4, "api", ("TorchFix",)),
        ("b.py", 3, "api", ("TorchFix",)),
    ]


def test_a_tool_speaks_once_of_a_place() -> None:
    """Its second finding there stays visible, and the tool is named once."""
    (place,) = joined([said("TorchFix", "TOR101"), said("TorchFix", "TOR103"), said("TorchFix", "TOR101")])
    assert place.tools == ("TorchFix",)
    assert [each.code for each in place.said] == ["TOR101", "TOR103"]


def test_what_concerns_python_alone_is_left_out() -> None:
    """A rule of flake8-bugbear has no kind."""
    assert joined([said("flake8-bugbear", "B905")]) == []


def test_the_table_counts_places_and_says_why_torchlint_is_silent() -> None:
    """A code without an explanation is told as such; a place of which torchlint speaks needs none."""
    ours = Said("a.py", 5, "torchlint", "TLN902", "(strict) `torch.norm`")
    found = joined(
        [said("TorchFix", "TOR102"), said("TorchFix", "TOR101", line=4), said("TorchFix", "TOR101", line=5), ours]
    )
    rows = table([*(("one", each) for each in found), ("two", found[0])])[2:]
    assert rows == [
        "| api | 1 (one 1) | TorchFix TOR101 | TLN902 strict |  |",
        f"| api | 1 (one 1) | TorchFix TOR101 | silent | {UNEXPLAINED} |",
        f"| load | 2 (one 1, two 1) | TorchFix TOR102 | silent | {EXPLAINED['TOR102']} |",
    ]


def test_what_is_explained_is_compared() -> None:
    """An explanation of a code that no kind names would never be asked for."""
    assert EXPLAINED.keys() <= KIND_OF.keys()


def test_a_code_has_one_kind() -> None:
    """A code under two kinds would be joined under the last."""
    codes = [code for each in KINDS.values() for code in each]
    assert len(codes) == len(set(codes))


def test_flake8_output_is_read_with_paths_of_any_form(tmp_path: Path) -> None:
    """Whether flake8 was given the path with a leading dot or in full; other lines are none."""
    (tmp_path / "a.py").touch()
    lines = [
        "./a.py:3:5: TOR101 Use of deprecated function torch.ger: see there",
        f"{tmp_path}/a.py:4:1: B905 zip",
        "no finding",
    ]
    assert read_flake8(tmp_path, "\n".join(lines)) == [
        Said("a.py", 3, "TorchFix", "TOR101", "Use of deprecated function torch.ger: see there"),
        Said("a.py", 4, "flake8-bugbear", "B905", "zip"),
    ]
