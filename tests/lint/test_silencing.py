"""`--add-noqa`: the comments go where they silence, and nowhere else does anything change."""

from __future__ import annotations

import ast

import pytest
from toy import EVERYTHING, REGISTRY, lint

from torchlint.lint import notebooks
from torchlint.lint.silencing import Silenced, silence
from torchlint.syntax.notebook import Notebook

pytestmark = pytest.mark.usefixtures("toy_model")


def _silenced(text: str) -> Silenced:
    return silence(text, lint(text), lint)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("torch.bad()\n", "torch.bad()  # noqa: PRB001\n"),
        ("torch.bad()", "torch.bad()  # noqa: PRB001"),
        ("torch.bad()   \r\nx = 1\r\n", "torch.bad()  # noqa: PRB001\r\nx = 1\r\n"),
        ("torch.bad()  # why\n", "torch.bad()  # why  # noqa: PRB001\n"),
        ("torch.bad()  # noqa: E501\n", "torch.bad()  # noqa: E501, PRB001\n"),
        ("torch.bad()  # noqa:E501,W1 because\n", "torch.bad()  # noqa:E501,W1, PRB001 because\n"),
        ("torch.bad(\n    1,\n)\n", "torch.bad(  # noqa: PRB001\n    1,\n)\n"),
        ("torch.bad('''\n# no\n''')\n", "torch.bad('''\n# no\n''')  # noqa: PRB001\n"),
        ("x = \\\n  torch.bad()\n", "x = \\\n  torch.bad()  # noqa: PRB001\n"),
        ("x = torch.bad() + \\\n  1\n", "x = torch.bad() + \\\n  1  # noqa: PRB001\n"),
        ("x = '# noqa: X1', torch.bad()\n", "x = '# noqa: X1', torch.bad()  # noqa: PRB001\n"),
        ("torch.bad(); torch.twice()\n", "torch.bad(); torch.twice()  # noqa: PRB001, PRB003\n"),
        ("\ttorch.ok()\n".lstrip() + "if 1:\n\ttorch.bad()\n", "torch.ok()\nif 1:\n\ttorch.bad()  # noqa: PRB001\n"),
        ("x = f'''{torch.bad()}\n{1}'''\n", "x = f'''{torch.bad()}\n{1}'''  # noqa: PRB001\n"),
    ],
)
def test_where_the_comment_goes(text: str, wanted: str) -> None:
    head = "import torch\r\n" if "\r" in text else "import torch\n"
    done = _silenced(head + text)
    assert done.text == head + wanted
    assert done.report.findings == ()
    assert done.added
    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(head + text))
    assert _silenced(done.text).text == done.text


def test_a_failure_is_not_silenced() -> None:
    done = _silenced("import torch\ntorch.boom()\n")
    assert done.text == "import torch\ntorch.boom()  # noqa: PRB001\n"
    assert [finding.code for finding in done.report.findings] == ["TLN000"]


def test_what_is_not_python_stays() -> None:
    text = "import torch\nx = (\n"
    done = _silenced(text)
    assert (done.text, done.added) == (text, 0)
    assert [finding.code for finding in done.report.findings] == ["TLN001"]


def test_a_notebook() -> None:
    cells = ["import torch\\n", "!ls\\n", "torch.bad()"]
    source = (
        '{"cells": [{"cell_type": "code", "source": ["' + '", "'.join(cells) + '"], "outputs": [1]}], "nbformat": 4}'
    )
    done, changed = notebooks.silence("a.ipynb", Notebook.read(source.encode()), REGISTRY, EVERYTHING)
    assert [(number, after) for number, _, after in changed] == [(1, "import torch\n!ls\ntorch.bad()  # noqa: PRB001")]
    assert done.report.findings == ()
    assert done.added == 1
    assert '"outputs": [1]' in done.text
