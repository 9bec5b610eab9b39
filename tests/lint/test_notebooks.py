"""Cells as one text and back, and notebooks as files: what is not changed stays to the byte."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from toy import EVERYTHING, REGISTRY

from torchlint.lint.notebooks import check, in_cells
from torchlint.syntax.cells import Cells
from torchlint.syntax.notebook import Notebook
from torchlint.syntax.text import SourceError


def _translated(source: str) -> list[str]:
    """The lines that stand for a cell, without the marks at their ends."""
    lines = Cells.of([(1, source)]).text.split("\n")[1:-1]
    return [line.partition("  #\u2063")[0] for line in lines]


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("%matplotlib inline\nx = 1", ["pass", "x = 1"]),
        ("if x:\n    !ls 'it\n    %cd a", ["if x:", "    pass", "    pass"]),
        ("!pip install a \\\n  b\nx", ["pass", "pass", "x"]),
        ("torch.add?\n?x\nx??\n*int*?", ["pass", "pass", "pass", "pass"]),
        ("files = !ls\na, b = %who_ls", ["files = get_ipython()", "a, b = get_ipython()"]),
        ("%time y = f(x)\n%time f(x)", ["pass; y = f(x)", "_   = f(x)"]),
        ("%timeit -n 10 -r3 f(x)", ["_               = f(x)"]),
        ("%time for x in y: f(x)", ["pass"]),
        ("%run a.py", ["from _ import *"]),
        ("%%time\nx = 1", ["pass", "x = 1"]),
        ("\n%%capture out\nx = 1", ["", "pass", "x = 1"]),
        ("z = (3\n% 2)", ["z = (3", "% 2)"]),
        ('s = """\n%foo\n!ls\n"""', ['s = """', "%foo", "!ls", '"""']),
        ("s = '''it's\n%a'''\n%b", ["s = '''it's", "%a'''", "pass"]),
        ("x = a \\\n % b", ["x = a \\", " % b"]),
        ("s = 'a=%s' % x\nt = x['=!a']", ["s = 'a=%s' % x", "t = x['=!a']"]),
        ("# it's (\n%a", ["# it's (", "pass"]),
        ("await f()", ["await f()"]),
    ],
)
def test_what_only_ipython_understands_is_replaced_line_for_line(source: str, python: list[str]) -> None:
    assert _translated(source) == python


@pytest.mark.parametrize("source", ["%%bash\necho", "%%html\n<p>", "%%writefile a.py\nx = 1", "%%python\nx", "%%"])
def test_cells_in_other_languages_are_left_out(source: str) -> None:
    assert Cells.of([(1, source)]).text == ""


def test_columns_are_those_of_the_cell() -> None:
    for source in ("%time y = f(x)", "%time f(x)", "%timeit -n 10 f(x)", "files = !ls"):
        (line,) = _translated(source)
        kept = "f(x)" if "f(x)" in source else "files ="
        assert line.index(kept) == source.index(kept)


def test_a_cell_that_is_not_python_is_named_and_left_out() -> None:
    cells = Cells.of([(2, "x = 1"), (4, "x = (1\ny = "), (7, "z = 1")])
    assert [(each.cell, each.line) for each in cells.broken] == [(4, 1)]
    assert cells.broken[0].message == "'(' was never closed"
    assert [cells.place(line) for line in (1, 2, 3, 4)] == [(2, 1), (2, 1), (7, 1), (7, 1)]


def test_lines_there_and_back() -> None:
    cells = Cells.of([(3, "a\nb"), (4, ""), (9, "%ls\nc\n")])
    for cell, line, text in ((3, 1, "a"), (3, 2, "b"), (4, 1, ""), (9, 2, "c")):
        whole = cells.line(cell, line)
        assert cells.text.split("\n")[whole - 1] == text
        assert cells.place(whole) == (cell, line)
    assert cells.is_hidden(cells.line(9, 1))
    assert not cells.is_hidden(cells.line(9, 2))
    with pytest.raises(KeyError):
        cells.line(5, 1)


@pytest.mark.parametrize(
    "sources", [["a\nb", "%ls\nc\n", ""], ["%time a = 1", "!x \\\n y"], ["a\r\nb\r\n"], ["%%bash\nx", "%%time\ny"]]
)
def test_nothing_changes_where_nothing_was_changed(sources: list[str]) -> None:
    cells = Cells.of(list(enumerate(sources, start=1)))
    assert list(cells.changed(cells.text)) == []


def test_what_changed_is_put_back_into_its_cell() -> None:
    cells = Cells.of([(1, "%ls\na = 1\nb = 2"), (2, "c = 3\r\nd = 4"), (3, "e")])
    text = cells.text.replace("b = 2\n", "").replace("c = 3", "import torch\nc = 5")
    assert list(cells.changed(text)) == [
        (1, "%ls\na = 1\nb = 2", "%ls\na = 1"),
        (2, "c = 3\r\nd = 4", "import torch\r\nc = 5\r\nd = 4"),
    ]


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("raised in line 3", "raised in line 2 of cell 3"),
        ("and 2 more, lines 2 to 3", "and 2 more, lines 1 to 2 of cell 3"),
        ("and 3 more, lines 3 to 6", "and 3 more, line 2 of cell 3 to line 1 of cell 9"),
        ("in line with 3", "in line with 3"),
    ],
)
def test_sentences_speak_of_cells(message: str, says: str) -> None:
    assert in_cells(message, Cells.of([(3, "a\nb\n"), (9, "d")])) == says


@pytest.mark.usefixtures("toy_model")
def test_the_place_of_an_internal_error_is_no_cell() -> None:
    source = json.dumps(_whole("x = 1", "import torch\n" + "\n" * 200 + "torch.crash()")).encode()
    found = check("some.ipynb", Notebook.read(source), REGISTRY, EVERYTHING).findings
    assert [(each.code, re.sub(r"line \d+", "line N", each.message)) for each in found] == [
        ("TLN000", "the model could not follow this file: ZeroDivisionError: toy model (toy.py, line N)")
    ]


def _whole(*sources: Any, **more: Any) -> dict[str, Any]:
    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": f"c{at}",
            "metadata": {"z": 1, "a": 2},
            "outputs": [{"text": ["x"]}],
            "source": each,
        }
        for at, each in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


SOURCE = ["x = 1\n", "y = 'ü'\n", "z = 3"]
LAYOUTS = {
    "jupyter": {"indent": 1, "ensure_ascii": False},
    "colab": {"indent": 2},
    "tabs": {"indent": "\t"},
    "one line": {},
    "compact": {"separators": (",", ":")},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("source", [SOURCE, "".join(SOURCE), SOURCE[:1]])
def test_only_the_text_of_a_changed_cell_is_written(layout: str, source: Any) -> None:
    """The result is what the same program would have written, for each layout."""
    options: dict[str, Any] = LAYOUTS[layout]
    text = json.dumps(_whole(["ü = 0"], source), **options) + "\n"
    notebook = Notebook.read(text.encode())
    (_, first), (number, before) = notebook.sources
    assert (first, number, before) == ("ü = 0", 2, "".join(source))
    assert notebook.with_texts([]) == text
    after = before.replace("x = 1\n", "x = 2\nx = 3\n")
    expected = after.splitlines(True) if isinstance(source, list) else after
    assert notebook.with_texts([(2, after)]) == json.dumps(_whole(["ü = 0"], expected), **options) + "\n"


@pytest.mark.parametrize("layout", ["jupyter", "colab", "one line"])
def test_lines_of_the_file(layout: str) -> None:
    text = json.dumps(_whole(["ü = 0"], [*SOURCE]), **LAYOUTS[layout])
    notebook = Notebook.read(text.encode())
    lines = text.split("\n")
    for number, line in enumerate(SOURCE, start=1):
        assert (
            json.dumps(line, ensure_ascii=LAYOUTS[layout].get("ensure_ascii", True))
            in lines[notebook.in_file(2, number) - 1]
        )
    assert notebook.in_file(2, 99) == notebook.in_file(2, 3)
    assert notebook.in_file(99, 1) == 1


def test_how_a_line_is_spelt_stays() -> None:
    text = json.dumps(_whole(["a = '/'\n", "b"])).replace("'/'", "'\\/'")
    assert "'\\/'\\n" in Notebook.read(text.encode()).with_texts([(1, "a = '/'\nc")])


def test_an_emptied_cell_is_an_empty_list() -> None:
    text = json.dumps(_whole(["a\n", "b"]), indent=1)
    assert json.loads(Notebook.read(text.encode()).with_texts([(1, "")]))["cells"][0]["source"] == []


def test_numbers_count_all_cells_and_only_python_is_code() -> None:
    whole = _whole("a", "b")
    whole["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": "# x"})
    assert Notebook.read(json.dumps(whole).encode()).sources == ((2, "a"), (3, "b"))
    for about in ({"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}):
        assert Notebook.read(json.dumps({**whole, "metadata": about}).encode()).sources == ()


def test_the_format_of_before_2014() -> None:
    cell = {"cell_type": "code", "input": ["x = 1\n", "y"], "language": "python", "outputs": []}
    text = json.dumps({"metadata": {}, "nbformat": 3, "worksheets": [{"cells": [cell]}]}, indent=1)
    notebook = Notebook.read(text.encode())
    assert notebook.sources == ((1, "x = 1\ny"),)
    assert notebook.with_texts([(1, "x = 2\ny")]) == text.replace("x = 1", "x = 2")


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"", "not a notebook: empty", 1),
        (b'{"cells": [\n,]}', "not a notebook: expecting value", 2),
        (b"[]", "not a notebook: it has no list of cells", 1),
        (b'{"cells": 3}', "not a notebook: it has no list of cells", 1),
        (b"[" * 100_000, "not a notebook: nested too deeply", 1),
        (b'{"a": "\xff"}', "not utf-8: cannot decode byte 0xff", 1),
    ],
)
def test_what_is_no_notebook_says_why(data: bytes, message: str, line: int) -> None:
    with pytest.raises(SourceError) as caught:
        Notebook.read(data)
    assert (caught.value.message, caught.value.line) == (message, line)
