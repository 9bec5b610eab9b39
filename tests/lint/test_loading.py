"""Of the files that are loaded together the one is told of that fails first, and nothing that comes after."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

PROJECT = '[project]\nname = "net"\nversion = "1"\nrequires-python = ">=3.8"\ndependencies = ["torch>={oldest}"]\n'


def told(folder: Path, files: dict[str, str], oldest: str = "1.13") -> dict[str, list[str]]:
    """What is said of each file."""
    (folder / "pyproject.toml").write_text(PROJECT.format(oldest=oldest))
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text)
    found = {
        name: [each.message for each in lint(text, path=str(folder / name), codes=["TLN907"]).findings]
        for name, text in files.items()
    }
    return {name: messages for name, messages in found.items() if messages}


LATER = "import torch\n\ndef made(model):\n    return torch.compile(model)\n"
AT_LOAD = "import torch\n\nmade = torch.compile(len)\n"


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"net/__init__.py": "import torch._dynamo\n", "net/a.py": LATER}, "net/__init__.py"),
        ({"net/__init__.py": "import torch.func\nfrom .a import made\n", "net/a.py": LATER}, "net/__init__.py"),
        ({"net/__init__.py": "from .a import made\nimport torch.func\n", "net/a.py": LATER}, "net/__init__.py"),
        ({"net/__init__.py": "import torch.func\nfrom .a import made\n", "net/a.py": AT_LOAD}, "net/__init__.py"),
        ({"net/__init__.py": "from .a import made\nimport torch.func\n", "net/a.py": AT_LOAD}, "net/a.py"),
        (
            {"net/__init__.py": "from . import a\nimport torch.func\n", "net/a.py": f"from . import b\n{AT_LOAD}"},
            "net/a.py",
        ),
        (
            {"net/__init__.py": "from .b import x\n", "net/b.py": "from torch._inductor import x\n", "net/a.py": LATER},
            "net/b.py",
        ),
        (
            {"net/__init__.py": "", "net/in/__init__.py": "import torch._export\n", "net/in/a.py": LATER},
            "net/in/__init__.py",
        ),
        (
            {"net/__init__.py": "try:\n    import torch._dynamo\nexcept ImportError:\n    pass\n", "net/a.py": LATER},
            "net/a.py",
        ),
        ({"net/__init__.py": "def f():\n    import torch._dynamo\n    return torch._dynamo\n", "net/a.py": LATER}, ""),
    ],
)
def test_the_first_that_fails_is_told_of(tmp_path: Path, files: dict[str, str], first: str) -> None:
    assert list(told(tmp_path, files)) == ([first] if first else list(files))


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nimport torch._dynamo\n",
        "import torch._dynamo as dynamo\n\ndynamo.config.suppress_errors = True\n",
        "from torch._dynamo import config\n",
        "import torch\n\ntorch._dynamo.config.suppress_errors = True\n",
    ],
)
def test_a_private_module_that_is_loaded_asks_for_the_release_that_it_came_with(tmp_path: Path, text: str) -> None:
    """And what the file does later is no other condition."""
    text += "\ndef made(model):\n    return torch.compile(model)\n"
    ((message,),) = told(tmp_path, {"use.py": text}).values()
    assert message.startswith("`torch._dynamo` is new in torch 2.0")
    assert "called" not in message


def test_what_a_file_itself_puts_there_is_there(tmp_path: Path) -> None:
    assert not told(tmp_path, {"use.py": "import torch\n\ntorch.func = len\nprint(torch.func)\n"})
    assert told(tmp_path, {"use.py": "import torch\n\ntorch.func.vmap.found = len\n"})


USES = "import torch\n{}\ndef made(x):\n    return torch.fft.rfft(x)\n"


@pytest.mark.parametrize(
    ("files", "is_there"),
    [
        ({"net/__init__.py": "import torch.fft\n", "net/a.py": USES.format("")}, True),
        (
            {
                "net/__init__.py": "",
                "net/a.py": USES.format("from .b import x\n"),
                "net/b.py": "import os, torch.fft\n",
            },
            True,
        ),
        ({"net/__init__.py": "", "net/a.py": USES.format(""), "net/b.py": "from torch.fft import fft\n"}, True),
        ({"net/__init__.py": "", "net/a.py": USES.format(""), "net/b.py": "import torch\n"}, False),
        ({"net/__init__.py": "", "net/a.py": USES.format(""), "net/b.py": "# no import torch.fft\n"}, False),
        ({"a.py": USES.format("import b\n"), "b.py": "import torch.fft\n"}, True),
        ({"a.py": USES.format(""), "b.py": "import torch.fft\n"}, False),
    ],
)
def test_a_module_that_a_function_hides_is_there_where_any_file_imports_it(
    tmp_path: Path, files: dict[str, str], is_there: bool
) -> None:
    """`torch.fft` is a function in 1.7, until somebody imports the module."""
    messages = told(tmp_path, files, "1.7")
    assert not messages if is_there else "without `import torch.fft`" in str(messages) and "say that" in str(messages)
    assert "without" not in str(told(tmp_path, files, "1.6"))
