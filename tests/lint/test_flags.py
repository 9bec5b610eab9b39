"""What an author notes of which torch there is, and asks for where it is used: flags, tables, methods, devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

NOTED = """
import torch

HAS = False
if hasattr(torch, "compile"):
    HAS = True

if FAST:
    QUICK = True

IMPLEMENTATIONS = {}
NAMES = ["plain"]
IMPLEMENTATIONS["plain"] = lambda model: model
if hasattr(torch, "compile"):
    IMPLEMENTATIONS["compiled"] = 1
    NAMES.append("compiled")
    NAMES.append("other")
TRIED = {}
try:
    TRIED["compiled"] = torch.compile
except AttributeError:
    pass
WRITTEN = {}
if hasattr(torch, "compile"):
    WRITTEN.update({"compiled": 1}, also=2)

class Flags:
    COMPILES = hasattr(torch, "compile")
    FAST = True

    @staticmethod
    def compiles():
        return hasattr(torch, "compile")

    @property
    def ready(self):
        return self.COMPILES

    def name(self):
        return self.FAST

FLAGS = Flags()
"""
USE = """import torch
{imports}

def made(model, name):
    if {test}:
        return torch.compile(model)
    return model
"""


def found(folder: Path, name: str, files: dict[str, str], requires: str = "torch>=1.13") -> list[str]:
    (folder / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requires}"]\n')
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text)
    return [each.code for each in lint(files[name], path=str(folder / name)).findings if each.code == "TLN907"]


TESTS = pytest.mark.parametrize(
    ("taken", "test", "is_asked"),
    [
        ("HAS", "HAS", True),
        ("QUICK", "QUICK", False),
        ("IMPLEMENTATIONS", '"compiled" in IMPLEMENTATIONS', True),
        ("IMPLEMENTATIONS", "name in IMPLEMENTATIONS", True),
        ("IMPLEMENTATIONS", 'IMPLEMENTATIONS.get("compiled")', True),
        ("IMPLEMENTATIONS", 'IMPLEMENTATIONS["compiled"] is not None', True),
        ("IMPLEMENTATIONS", '"plain" in IMPLEMENTATIONS', False),
        ("IMPLEMENTATIONS", 'IMPLEMENTATIONS["plain"]', False),
        ("NAMES", '"compiled" in NAMES', True),
        ("NAMES", '"other" not in NAMES', True),
        ("NAMES", '"plain" in NAMES', False),
        ("TRIED", '"compiled" in TRIED', True),
        ("WRITTEN", '"compiled" in WRITTEN', True),
        ("WRITTEN", '"also" in WRITTEN', True),
        ("WRITTEN", '"none" in WRITTEN', False),
        ("Flags", "Flags.COMPILES", True),
        ("Flags", "Flags.compiles()", True),
        ("Flags", "Flags.FAST", False),
        ("FLAGS", "FLAGS.ready", True),
        ("FLAGS", "FLAGS.name()", False),
    ],
)


@TESTS
def test_what_another_file_has_noted(tmp_path: Path, taken: str, test: str, is_asked: bool) -> None:
    files = {"net/__init__.py": "", "net/noted.py": NOTED}
    for at, (imports, prefix) in enumerate([(f"from .noted import {taken}", ""), ("from . import noted", "noted.")]):
        name = f"net/use{at}.py"
        files[name] = USE.format(imports=imports, test=test.replace(taken, prefix + taken))
        assert found(tmp_path, name, files) == ([] if is_asked else ["TLN907"])


@TESTS
def test_what_the_file_has_noted_itself(tmp_path: Path, taken: str, test: str, is_asked: bool) -> None:
    text = USE.format(imports=NOTED, test=test)
    assert found(tmp_path, "use.py", {"use.py": text}) == ([] if is_asked else ["TLN907"]), taken


METHODS = """
import torch
from .base import Base

class Runner(Base):
    def __init__(self):
        self.able = hasattr(torch, "compile")
        self.fast = True

    def _supports(self):
        return self.able

    @property
    def _is_able(self):
        return hasattr(torch, "compile")

    def _is_fast(self):
        return self.fast

    def _made(self, model):
        {made}

    def made(self, model):
        {body}
"""
BASE = """
import torch

class Root:
    def can(self):
        return hasattr(torch, "compile")

    def may(self):
        return True
"""


@pytest.mark.parametrize(
    ("made", "body", "is_asked"),
    [
        ("return 0", "if not self._supports():\n            return model\n        return torch.compile(model)", True),
        ("return 0", "return torch.compile(model) if self._is_able else model", True),
        ("return 0", "if not self._is_fast():\n            return model\n        return torch.compile(model)", False),
        ("return 0", "return torch.compile(model) if self.can() else model", True),
        ("return 0", "return torch.compile(model) if self.may() else model", False),
        ("return 0", "return torch.compile(model) if self.absent() else model", False),
        ("return torch.compile(model)", "return self._made(model) if self._is_able else model", True),
        (
            "return torch.compile(model)",
            "if not self.able:\n            return 0\n        return self._made(model)",
            True,
        ),
        ("return torch.compile(model)", "return self._made(model) if self.fast else model", False),
        (
            "return torch.compile(model)",
            "self._made(0)\n        return self._made(model) if self.able else model",
            False,
        ),
        ("return torch.compile(model)", "return map(self._made, model)", False),
        ("return torch.compile(model)", "return model", False),
    ],
)
def test_a_method_that_is_asked_first(tmp_path: Path, made: str, body: str, is_asked: bool) -> None:
    files = {
        "net/__init__.py": "",
        "net/base.py": "from .root import Root\n\nclass Base(Root):\n    pass\n",
        "net/root.py": BASE,
        "net/run.py": METHODS.format(made=made, body=body),
    }
    assert found(tmp_path, "net/run.py", files) == ([] if is_asked else ["TLN907"])


@pytest.mark.parametrize(
    ("body", "is_asked"),
    [
        ("if x.device.type == 'xpu':\n        torch.xpu.synchronize()", True),
        ("if x.device.type != 'xpu':\n        return\n    torch.xpu.synchronize()", True),
        ("own = x.device.type == 'xpu'\n    if own:\n        torch.xpu.synchronize()", True),
        ("if x.is_xpu:\n        torch.xpu.synchronize()", True),
        ("match x.device.type:\n        case 'xpu':\n            torch.xpu.synchronize()", True),
        ("{'cuda': torch.cuda.synchronize, 'xpu': lambda: torch.xpu.synchronize()}[x]()", True),
        ("x.is_xpu and torch.xpu.synchronize()", True),
        ("if x.device.type == 'mtia':\n        torch.mtia.synchronize()", True),
        ("torch.xpu.synchronize()", False),
        ("if x.device.type == 'cuda':\n        torch.xpu.synchronize()", False),
        ("if x.device.type == 'xpu':\n        print(x)\n    torch.xpu.synchronize()", False),
        ("match x.device.type:\n        case 'cuda':\n            torch.xpu.synchronize()", False),
        ("{'xpu': 0, 'all': lambda: torch.xpu.synchronize()}[x]()", False),
        ("if x.device.type == 'mps':\n        torch.xpu.synchronize()", False),
    ],
)
def test_a_device_that_others_brought(tmp_path: Path, body: str, is_asked: bool) -> None:
    text = f"import torch\n\ndef wait(x):\n    {body}\n"
    assert found(tmp_path, "net.py", {"net.py": text}, "torch>=2.0") == ([] if is_asked else ["TLN907"])


NEW = "import torch\n\ndef made(model):\n    return torch.compile(model)\n"
FLAG = "import torch\nHAS = hasattr(torch, 'compile')\n"
ASKS = "import torch\nfrom {} import made\n\ndef go(x):\n    return made(x) if hasattr(torch, 'compile') else x\n"
CALLS = "from tools.new import made\nmade(1)\n"
USES = "import torch\nfrom {} import HAS\n\ndef made(model):\n    return torch.compile(model) if HAS else model\n"


@pytest.mark.parametrize(
    ("name", "files", "is_asked"),
    [
        ("tools/new.py", {"tools/new.py": NEW, "tools/main.py": ASKS.format("new")}, True),
        ("tools/new.py", {"tools/new.py": NEW, "main.py": ASKS.format("tools.new")}, True),
        ("net/a/new.py", {"net/__init__.py": "", "net/a/new.py": NEW, "net/b.py": ASKS.format(".a.new")}, True),
        ("net/a/new.py", {"net/__init__.py": "", "net/a/new.py": NEW, "net/b.py": ASKS.format("net.a.new")}, True),
        ("src/net/a/new.py", {"src/net/a/new.py": NEW, "src/net/b.py": ASKS.format("net.a.new")}, True),
        ("tools/new.py", {"tools/new.py": NEW, "main.py": ASKS.format("other.new")}, False),
        ("tools/new.py", {"tools/new.py": NEW, "a.py": ASKS.format("tools.new"), "b.py": CALLS}, False),
        ("tools/new.py", {"tools/new.py": NEW}, False),
        ("tools/a/new.py", {"tools/flags.py": FLAG, "tools/a/new.py": USES.format("..flags")}, True),
        ("tools/a/new.py", {"tools/flags.py": FLAG, "tools/a/new.py": USES.format("..others")}, False),
        ("net/a/new.py", {"net/__init__.py": "", "net/flags.py": FLAG, "net/a/new.py": USES.format("..flags")}, True),
    ],
)  # fmt: skip
def test_a_folder_without_an_init_is_a_package_too(
    tmp_path: Path, name: str, files: dict[str, str], is_asked: bool
) -> None:
    assert found(tmp_path, name, files) == ([] if is_asked else ["TLN907"])


@pytest.mark.parametrize(
    ("other", "own", "is_found"),
    [
        ("torch.utils.checkpoint.checkpoint = partial(mine, use_reentrant=False)", "", False),
        ("setattr(torch.utils.checkpoint, 'checkpoint', mine)", "", False),
        ("", "setattr(torch.utils.checkpoint, 'checkpoint', mine)", False),
        ("torch.utils.checkpoint.checkpoint == mine", "", True),
        ("torch.utils.checkpoint.noop = mine", "", True),
    ],
)  # fmt: skip
def test_what_the_project_puts_into_torch_is_its_own(tmp_path: Path, other: str, own: str, is_found: bool) -> None:
    text = (
        f"import torch\nimport torch.utils.checkpoint\n{own}\n\ndef run(net, x):\n"
        "    return torch.utils.checkpoint.checkpoint(net, x)\n"
    )
    for name, written in {"__init__": "", "use": text, "patch": f"import torch.utils.checkpoint\n{other}\n"}.items():
        (tmp_path / "net").mkdir(exist_ok=True)
        (tmp_path / "net" / f"{name}.py").write_text(written)
    codes = [each.code for each in lint(text, path=str(tmp_path / "net" / "use.py")).findings]
    assert codes == (["TLN903"] if is_found else [])
