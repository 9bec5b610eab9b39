"""Which torch there is may be asked in another file of the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

from torchlint.rule import Level

USE = "import torch\n{imports}\n\ndef made(model):\n    return torch.compile(model) if {test} else model\n"


def found(folder: Path, name: str, files: dict[str, str]) -> list[str]:
    (folder / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text)
    return [each.code for each in lint(files[name], path=str(folder / name)).findings]


FLAGS = """
import torch

MODERN = int(torch.__version__.split(".")[0]) > 1
FAST = True
BOTH = MODERN and FAST

def ready():
    return MODERN

def wanted():
    return FAST

def _probe():
    try:
        torch.compile(torch.sin)
        return True
    except AttributeError:
        return False

PROBED: bool = _probe()

try:
    torch.compile
    LISTED = True
except AttributeError:
    LISTED = False

SIGNED = "weights_only" in inspect.signature(torch.load).parameters
"""
HANDS_ON = (
    "from .flags import MODERN, FAST\nfrom .flags import PROBED as CAN\nfrom .flags import *\nALL = CAN and FAST\n"
)


@pytest.mark.parametrize(
    ("imports", "test", "is_asked"),
    [
        ("from .flags import MODERN", "MODERN", True),
        ("from net.flags import MODERN as GOOD", "GOOD", True),
        ("from .flags import BOTH", "BOTH", True),
        ("from .flags import ready", "ready()", True),
        ("from . import flags", "flags.MODERN", True),
        ("import net.flags as known", "known.MODERN", True),
        ("from .flags import PROBED", "PROBED", True),
        ("from .flags import LISTED", "LISTED", True),
        ("from .flags import SIGNED", "SIGNED", True),
        ("from .flags import *", "LISTED", True),
        ("from .more import MODERN as GOOD", "GOOD", True),
        ("from .more import CAN", "CAN", True),
        ("from .more import ALL", "ALL", True),
        ("from .more import LISTED", "LISTED", True),
        ("from .flags import *", "FAST", False),
        ("from .more import FAST", "FAST", False),
        ("from .flags import FAST", "FAST", False),
        ("from .flags import wanted", "wanted()", False),
        ("from . import flags", "flags.FAST", False),
        ("from .absent import MODERN as GOOD", "GOOD", False),
        ("from .flags import MODERN\nGOOD = True", "GOOD", False),
    ],
)
def test_a_flag_of_another_file(tmp_path: Path, imports: str, test: str, is_asked: bool) -> None:
    text = USE.format(imports=imports, test=test)
    codes = found(
        tmp_path,
        "net/use.py",
        {"net/__init__.py": "", "net/flags.py": FLAGS, "net/more.py": HANDS_ON, "net/use.py": text},
    )
    assert codes == ([] if is_asked else ["TLN907"])


NEW = "import torch\n\ndef made(model):\n    return torch.compile(model)\n"
UNDER = "import torch\n\nif int(torch.__version__[0]) > 1:\n    {}\n"
LATER = "import torch\n\ndef later(x):\n    {}\n    from . import new\n    return new\n"


@pytest.mark.parametrize(
    ("importing", "is_asked"),
    [
        ({"net/a.py": UNDER.format("from .new import made")}, True),
        ({"net/a.py": UNDER.format("from net import new")}, True),
        ({"net/a.py": UNDER.format("import net.new")}, True),
        ({"net/a.py": "try:\n    from .new import made\nexcept ImportError:\n    made = None\n"}, True),
        ({"net/a.py": "try:\n    pass\nexcept ImportError:\n    from .new import made\n"}, False),
        ({"net/a.py": "from .new import made\n"}, False),
        ({"net/a.py": "def later():\n    from .new import made\n"}, False),
        ({"net/a.py": UNDER.format("from .new import made"), "net/b.py": "from .new import made\n"}, False),
        ({"net/a.py": UNDER.format("from .newer import made")}, False),
        ({"net/a.py": LATER.format("if not hasattr(torch, 'compile'):\n        return None")}, True),
        ({"net/a.py": LATER.format("if x is None or not hasattr(torch, 'compile'):\n        return None")}, True),
        ({"net/a.py": LATER.format("assert hasattr(torch, 'compile')")}, True),
        ({"net/a.py": LATER.format("if not hasattr(torch, 'compile'):\n        print(x)")}, False),
        ({"net/a.py": LATER.format("if not hasattr(x, 'layers'):\n        return None")}, False),
        ({"net/a.py": LATER.format("if x is None:\n        return None")}, False),
        ({"net/a.py": UNDER.format("from .b import *"), "net/b.py": "from . import new\n"}, True),
        ({"net/a.py": "from .b import *", "net/b.py": "from . import new\n"}, False),
        ({"net/a.py": "from . import b, new\n", "net/b.py": "from . import a, new\n"}, False),
        ({}, False),
    ],
)
def test_a_module_that_is_imported_under_a_test(tmp_path: Path, importing: dict[str, str], is_asked: bool) -> None:
    codes = found(tmp_path, "net/new.py", {"net/__init__.py": "", "net/new.py": NEW, **importing})
    assert codes == ([] if is_asked else ["TLN907"])


INIT_NEW = "from .new import made\n"
IMPORTED = "import torch\nfrom .new import made\nfrom .flags import MODERN\n\ndef use(model):\n    {}\n"


@pytest.mark.parametrize(
    ("calling", "is_asked"),
    [
        ({"net/a.py": IMPORTED.format("return made(model) if MODERN else model")}, True),
        (
            {
                "net/a.py": IMPORTED.format(
                    "if not hasattr(torch, 'compile'):\n        raise ValueError\n    made(model)"
                )
            },
            True,
        ),
        ({"net/a.py": IMPORTED.format("assert MODERN\n    return made(model)")}, True),
        ({"net/a.py": "from . import new\nfrom .flags import MODERN\n\nif MODERN:\n    new.made(1)\n"}, True),
        ({"net/a.py": IMPORTED.format("return made(model)")}, False),
        ({"net/a.py": IMPORTED.format("return map(made, model) if MODERN else model")}, False),
        ({"net/a.py": IMPORTED.format("return made(model) if MODERN else getattr(model, 'made')")}, False),
        ({"net/a.py": "from .new import *\nfrom .flags import MODERN\n\nif MODERN:\n    made(1)\n"}, True),
        ({"net/a.py": IMPORTED.format("return made(model) if MODERN else model"), "net/__init__.py": INIT_NEW}, False),
        ({"net/a.py": IMPORTED.format("return made(model) if FAST else model")}, False),
        ({"net/a.py": "from .new import made\n"}, False),
    ],
)
def test_all_who_call_it_ask_first(tmp_path: Path, calling: dict[str, str], is_asked: bool) -> None:
    files = {"net/__init__.py": "", "net/new.py": NEW, "net/flags.py": FLAGS, **calling}
    assert found(tmp_path, "net/new.py", files) == ([] if is_asked else ["TLN907"])


def test_what_is_gone_is_asked_for_elsewhere_too(tmp_path: Path) -> None:
    text = "import torch\nfrom .flags import MODERN\n\ndef f(x):\n    return x if MODERN else torch.rfft(x, 1)\n"
    assert not found(tmp_path, "net/use.py", {"net/__init__.py": "", "net/flags.py": FLAGS, "net/use.py": text})


def test_what_is_gone_stands_in_a_module_that_is_imported_under_a_test(tmp_path: Path) -> None:
    old = "import torch\n\ndef made(x):\n    return torch.rfft(x, 1)\n"
    under = 'import torch\n\nif torch.__version__ < "1.7":\n    from . import old\n'
    package = {"net/__init__.py": "", "net/old.py": old}
    assert found(tmp_path, "net/old.py", package) == ["TLN901"]
    assert not found(tmp_path, "net/old.py", {**package, "net/use.py": under})


INIT = "from .used import thing\n"


AT_LOAD = "import torch\n\nmade = torch.compile(len)\n"


@pytest.mark.parametrize(
    ("files", "level", "unless"),
    [
        ({"net/__init__.py": INIT}, "warning", "if anything imports this file"),
        ({"net/__init__.py": INIT + "# from .new import made\n"}, "warning", "if anything imports this file"),
        ({"net/__init__.py": ""}, "warning", " where this file is imported"),
        ({"net/__init__.py": "import os\n"}, "warning", " where this file is imported"),
        ({"net/__init__.py": INIT + "from .new import made\n"}, "error", ""),
        ({"net/__init__.py": INIT, "net/a.py": "from net.new import made\n"}, "error", ""),
        ({"net/__init__.py": INIT, "net/a.py": "from net import new\n"}, "error", ""),
        (
            {"net/__init__.py": INIT, "net/a.py": "def later():\n    from net.new import made\n"},
            "warning",
            " where this file is imported",
        ),
        (
            {"net/__init__.py": INIT, "net/a.py": 'NAMES = {"made": ".new"}\n'},
            "warning",
            " where this file is imported",
        ),
        ({"net/__init__.py": INIT, "net/a.py": '"""Something new."""\n'}, "warning", "if anything imports this file"),
        ({"net/__init__.py": INIT + "def __getattr__(name): ...\n"}, "warning", " where this file is imported"),
        ({"net/__init__.py": INIT, "tests/test_new.py": "from net import new\n"}, "warning", "this file is imported"),
        ({"net/__init__.py": INIT, "train.py": "import net.new\n"}, "warning", " where this file is imported"),
        (
            {"net/__init__.py": INIT, "a-1.dist-info/entry_points.txt": "[console_scripts]\na = net.new:made\n"},
            "error",
            "",
        ),
    ],
)
def test_a_module_that_nothing_imports(tmp_path: Path, files: dict[str, str], level: str, unless: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    for each, text in {"net/new.py": AT_LOAD, "net/used.py": "thing = 1\n", **files}.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(text)
    (finding,) = lint(AT_LOAD, path=str(tmp_path / "net/new.py")).findings
    assert (finding.code, finding.level.value) == ("TLN907", level)
    assert unless in finding.message
    (finding,) = lint(NEW, path=str(tmp_path / "net/new.py")).findings  # who calls it is another question
    assert (finding.code, finding.level.value) == ("TLN907", "warning")
    assert (unless if unless[:2] == "if" else " where `made` is called") in finding.message


def test_what_only_works_with_a_deprecated_name_and_is_left_out_is_strict(tmp_path: Path) -> None:
    old = "import torch\n\ndef made(x):\n    return torch.nn.functional.upsample(x)\n"
    package = {"net/__init__.py": INIT, "net/used.py": "thing = 1\n", "net/old.py": old}
    assert not found(tmp_path, "net/old.py", package)
    assert found(tmp_path, "net/old.py", {**package, "net/__init__.py": "from . import old\n"}) == ["TLN902"]


@pytest.mark.parametrize(
    ("puts", "is_there"),
    [
        ("torch.compile = None\n", True),
        ("setattr(torch, 'compile', None)\n", True),
        ("name = 'compile'\nsetattr(torch, name, None)\n", True),
        ("setattr(torch, 'compiler', None)\n", False),
        ("import sys\nsys.modules['torch.compile'] = None\n", True),
        ("if torch.compile == 1: pass\n", False),
    ],
)
def test_a_file_that_puts_a_name_into_torch(tmp_path: Path, puts: str, is_there: bool) -> None:
    files = {"net/__init__.py": "", "net/use.py": NEW, "net/compat.py": f"import torch\n{puts}"}
    assert found(tmp_path, "net/use.py", files) == ([] if is_there else ["TLN907"])


@pytest.mark.parametrize(
    ("puts", "codes"), [("torch.load = load", []), ("setattr(torch, 'load', load)", []), ("load", ["TLN904"])]
)
def test_a_load_that_a_project_puts_in_the_place_of_torchs(tmp_path: Path, puts: str, codes: list[str]) -> None:
    """What the project's own does with a file, and on which release, is not said by torch's."""
    use = "import torch\n\n\ndef restore(path):\n    return torch.load(path)['state_dict']\n"
    patch = f"import torch\n\ndef load(file, **others):\n    return None\n\n{puts}\n"
    files = {"net/__init__.py": "from net import compat\n", "net/use.py": use, "net/compat.py": patch}
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    assert found(tmp_path, "net/use.py", files) == codes


def test_what_a_module_shows_of_itself_is_strict(tmp_path: Path) -> None:
    demo = "import torch\n\nif __name__ == '__main__':\n    torch.nn.functional.upsample(torch.ones(1, 1, 2))\n"
    for folder, level in (("net", "strict"), ("scripts", "warning")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(demo)
        (tmp_path / "net" / "__init__.py").write_text("")
        (finding,) = lint(demo, path=str(tmp_path / folder / "a.py"), strict=True).findings
        assert finding.level.value == level


@pytest.mark.parametrize("value", ["False", "True"])
def test_what_a_demo_says_is_strict(tmp_path: Path, value: str) -> None:
    call = f"torchvision.models.resnet50(pretrained={value})\n"
    text = f"import torchvision\n\nif __name__ == '__main__':\n    {call}\ndef build():\n    return {call}"
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "__init__.py").write_text("from net import a\n\nmade = a.build\n")
    (tmp_path / "net" / "a.py").write_text(text)
    report = lint(text, path=str(tmp_path / "net" / "a.py"), strict=True)
    said = [each.level.value for each in report.findings if each.code == "TLN903"]
    assert said == ["strict", "warning"]


@pytest.mark.parametrize(
    ("taking", "is_named"),
    [
        ("from .new import other\n", False),
        ("from .new import other, made\n", True),
        ("from . import new\n", True),
        ("from .new import *\n", True),
        ("from .new import other\nhelp = 'made'\n", True),
    ],
)
def test_a_function_that_nothing_names(tmp_path: Path, taking: str, is_named: bool) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    text = NEW.replace("model)\n", "torch.rfft(model, 1))\n") + "\ndef other():\n    pass\n"
    for each, written in {"net/new.py": text, "net/__init__.py": taking}.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    gone, new = sorted(lint(text, path=str(tmp_path / "net/new.py")).findings, key=lambda each: each.code)
    assert (gone.level.value, new.level.value) == ("error" if is_named else "warning", "warning")
    assert ("if anything calls `made`" in new.message) is not is_named


@pytest.mark.parametrize(
    ("others", "own", "condition"),
    [
        ({}, "", " where it is used, if anything calls `made` (nothing here does)"),
        ({}, "# TODO: made is slow\n", " where it is used, if anything calls `made`"),
        ({"net/use.py": "import net\n\nway = net._vendor.other.new.made\n"}, "", " where `made` is called"),
        ({"net/use.py": "WAYS = {'made': 1}\n"}, "", " where `made` is called"),
        (
            {"tests/test_new.py": "from net._vendor.other import new\n\ncall(getattr(new, 'made'))\n"},
            "",
            " where `made` is called",
        ),
    ],
)
def test_nothing_here_is_all_of_the_project(tmp_path: Path, others: dict[str, str], own: str, condition: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    text = f"{own}import torch\n\ndef made(model):\n    return torch.compile(model)\n\ndef other():\n    pass\n"
    taking = "from .new import other\n"
    mine = {"net/__init__.py": "", "net/_vendor/other/__init__.py": taking, "net/_vendor/other/new.py": text}
    for each, written in {**mine, **others}.items():  # net/_vendor is a folder without an __init__.py
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    (finding,) = lint(text, path=str(tmp_path / "net/_vendor/other/new.py"), codes=["TLN907"]).findings
    assert f"AttributeError{condition}; raise" in finding.message


def test_both_conditions_are_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13", "nnsight>=0.7"]\n')
    text = "import torch\n\ndef made(model):\n    return torch.compile(model)\n\ndef other():\n    pass\n"
    (tmp_path / "net").mkdir()
    (tmp_path / "net/__init__.py").write_text("from .new import other\n")
    (finding,) = lint(text, path=str(tmp_path / "net/new.py"), codes=["TLN907"]).findings
    both = ", if anything calls `made` (nothing here does), unless `nnsight` asks for a later one;"
    assert both in finding.message


def test_what_holds_the_newest_torch_back_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.5", "allennlp<2"]\n')
    (tmp_path / "net").mkdir()
    text = "import torch\n\ntorch.symeig(torch.eye(2))\n"
    (finding,) = lint(text, path=str(tmp_path / "net/use.py"), codes=["TLN901"]).findings
    assert finding.level.value == "warning"
    assert ", unless `allennlp<2` refuses that" in finding.message


@pytest.mark.parametrize(
    ("code", "use"),
    [
        ("TLN901", "torch.symeig(torch.eye(2))"),
        ("TLN903", "torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.ones(1)]), 1, verbose=True)"),
        ("TLN907", "torch.compile(len)"),
    ],
)
def test_a_package_of_which_nothing_is_known_is_a_doubt_that_the_message_leaves_out(
    tmp_path: Path, code: str, use: str
) -> None:
    for other, level in (("odd<2", "warning"), ("pint<2", "error")):
        (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["torch>=1.5", "{other}"]\n')
        text = f"import torch\n\n{use}\n"
        (finding,) = lint(text, path=str(tmp_path / "use.py"), codes=[code]).findings
        assert (finding.level.value, "odd" in finding.message) == (level, False)
        assert ("`odd" in " ".join(step.message for step in finding.trace)) is (other == "odd<2")


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("self.gradient_checkpointing = False", "strict"),
        ("self.gradient_checkpointing = use", "warning"),
        ("self.gradient_checkpointing = False\n        self.names = ['gradient_checkpointing']", "warning"),
    ],
)
def test_a_checkpoint_under_a_switch(tmp_path: Path, body: str, level: str) -> None:
    text = (
        "from torch import nn\nfrom torch.utils.checkpoint import checkpoint\n\nclass Net(nn.Module):\n"
        f"    def __init__(self, use):\n        super().__init__()\n        {body}\n\n"
        "    def forward(self, x):\n        if self.gradient_checkpointing and self.training:\n"
        "            return checkpoint(self.net, x)\n        return self.net(x)\n"
    )
    (finding,) = lint(text, path=str(tmp_path / "use.py"), codes=["TLN903"], strict=True).findings
    assert finding.level.value == level


def test_one_segment_is_run_without_a_checkpoint() -> None:
    text = "from torch.utils.checkpoint import checkpoint_sequential\n\ncheckpoint_sequential(net, {}, x)\n"
    assert not lint(text.format("1"), codes=["TLN903"]).findings
    assert lint(text.format("4"), codes=["TLN903"]).findings


STRATEGY = """
import torch

IS_2_1 = torch.__version__ >= "2.1"
IS_2_4 = torch.__version__ >= "2.4"

class Strategy:
    def __init__(self, mesh=None, other=None):
        {refusing}
        self.kept = {{"mesh": mesh}}

    def setup(self):
        mesh = self.kept.get("mesh")
        {using}

    @classmethod
    def made(cls):
        return torch.nn.RMSNorm(3) if {made} else None

def _norm(size):
    return torch.nn.RMSNorm(size)

def check(size):
    if not {checking}:
        raise ImportError
"""
IN_MADE, IN_NORM = 18, 21
"""Lines, where the constructor has one statement of one line."""
REFUSED = "if not IS_2_4:\n            raise ImportError"
NESTED = (
    "if mesh is not None:\n            if not IS_2_4:\n                raise ValueError\n            self.mesh = mesh"
)


@pytest.mark.parametrize(
    ("refusing", "using", "made", "checking", "lines", "unless"),
    [
        (REFUSED, "return torch.nn.RMSNorm(3)", "IS_2_4", "IS_2_4", {IN_NORM}, "where `_norm` is called"),
        (REFUSED, "return _norm(3)", "IS_2_4", "IS_2_4", set(), ""),
        (REFUSED, "return _norm(3)", "other", "IS_2_4", {IN_MADE}, "unless line 9 asks"),
        ("check(3)", "return _norm(3)", "IS_2_4", "IS_2_4", set(), ""),
        ("check(3)", "return _norm(3)", "IS_2_4", "other", {IN_NORM}, "where `_norm` is called"),
        (NESTED, "return torch.nn.RMSNorm(3) if mesh else 0", "IS_2_4", "IS_2_1", {IN_NORM}, "where `_norm` is called"),
        (NESTED, "return torch.nn.RMSNorm(3) if self else 0", "IS_2_4", "IS_2_1", {14, IN_NORM}, "unless line 10 asks"),
        ("pass", "return torch.nn.RMSNorm(3)", "IS_2_4", "True", {14, IN_NORM}, "where `setup` is called"),
        ("pass", "return torch.nn.RMSNorm(3)", "IS_2_1", "True", {14, IN_NORM}, "where `setup` is called"),
    ],
)
def test_what_a_constructor_refuses(
    tmp_path: Path, refusing: str, using: str, made: str, checking: str, lines: set[int], unless: str
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    text = STRATEGY.format(refusing=refusing, using=using, made=made, checking=checking)
    length = refusing.count("\n")
    found = lint(text, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    shown = {at - length for each in found for at in (each.span.line, *(other.line for other in each.others))}
    assert shown == lines
    assert all(unless in each.message for each in found), [each.message for each in found]


@pytest.mark.parametrize(
    ("text", "place", "level"),
    [
        ("{}\n", " at load", "error"),
        ("class A:\n    b = {}\n", " at load", "error"),
        ("def f(x={}):\n    pass\n", " at load", "error"),
        ("def f(x):\n    return {}\n", " where `f` is called", "warning"),
        ("def f(x):\n    return {}\n\nf(1)\n", " where it is used", "error"),
        ("def f(x):\n    return {}\n\nif __name__ == '__main__':\n    f(1)\n", " where it is used", "error"),
        ("def f(x):\n    if x:\n        return 1\n    return {}\n\nf(1)\n", " where `f` is called", "warning"),
        ("def f(x):\n    if x:\n        x = {}\n    return x\n\nf(1)\n", " where line 3 leads there", "warning"),
        ("def g():\n    f(1)\n\ndef f(x):\n    return {}\n\ng()\n", " where it is used", "error"),
        ("def g():\n    f(1)\n\ndef f(x):\n    return {}\n\nprint(g)\n", " where `f` is called", "warning"),
        ("import sys\nif sys.platform == 'darwin':\n    {}\n", " where line 3 leads there", "warning"),
        ("import sys\nsys.stdin and {}\n", " where `sys.stdin` is true", "warning"),
        ("import sys\nsys.stdin and sys.stdout and {}\n", " where line 3 leads there", "warning"),
        ("def f(x, y):\n    if y and (x.any() or {}):\n        return x\n", " where `x.any()` is false", "warning"),
        ("made = lambda: {}\n", " where line 2 leads there", "warning"),
    ],
)
def test_who_has_to_come_by(tmp_path: Path, text: str, place: str, level: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    program = "import torch\n" + text.format("torch.compile(len)")
    (finding,) = lint(program, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert (finding.level.value, f"AttributeError{place};" in finding.message) == (level, True), finding.message


ELSEWHERE = """
import torch

IS_2_4 = torch.__version__ >= "2.4"

class Other(torch.nn.Module):
    def forward(self, x):
        if IS_2_4:
            return {other}
        return x

class Block(torch.nn.Module):
    def build(self):
        return torch.nn.RMSNorm(3)
"""


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("x + 1", "where `build` is called"),
        ("Block().build()", "unless line 8 asks"),
    ],
)
def test_a_test_that_decides_nothing_about_a_place_is_no_guard_of_it(tmp_path: Path, other: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    text = ELSEWHERE.format(other=other)
    (finding,) = lint(text, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert said in finding.message


CALLED_FIRST = """
import torch
from .compat import need_compile, CAN, helpers

def _has_it():
    try:
        import torch.compiler
    except ImportError:
        return False
    return True

def _require_it():
    if not _has_it():
        raise ImportError("too old")

def _require_all(name):
    _require_it()

def _ensure_folder():
    if not name:
        raise ValueError

class Block:
    def _check(self):
        assert hasattr(torch, "compile"), "too old"

    def build(self, flag):
        {first}
        return torch.compile(len)
"""


@pytest.mark.parametrize(
    ("first", "is_asked"),
    [
        ("_require_it()", True),
        ("_require_all('a')", True),
        ("_ensure_folder()", False),
        ("self._check()", True),
        ("other._check()", False),
        ("if flag:\n            _require_it()", False),
        ("need_compile('2.0')", True),
        ("helpers('2.0')", False),
        ("assert hasattr(torch, 'compile')", True),
        ("assert CAN and flag", True),
        ("assert CAN or flag", False),
        ("assert not flag", False),
        (
            "try:\n            import torch.compiler\n        except ImportError:\n            raise TypeError",
            True,
        ),
        (
            "try:\n            import torch.compiler\n        except ImportError:\n            print(error)",
            False,
        ),
    ],
)
def test_a_function_that_is_called_first_and_raises(tmp_path: Path, first: str, is_asked: bool) -> None:
    compat = (
        "import torch\n\nCAN = hasattr(torch, 'compile')\n\ndef need_compile(version):\n    if not CAN:\n"
        "        raise ImportError\n\ndef helpers(version):\n    pass\n"
    )
    files = {"net/__init__.py": "", "net/compat.py": compat, "net/use.py": CALLED_FIRST.format(first=first)}
    assert found(tmp_path, "net/use.py", files) == ["TLN907"] * (not is_asked)


OF_ONE_CLASS = """
import torch

class Block(torch.nn.Module):
    def count(self, groups, size):
        found = [each for each in groups if each]
        if not found:
            return 0
        has_bias = bool(size)
        if has_bias:
            return 1

    def chosen(self):
        found = hasattr(torch.nn, "RMSNorm")
        return self.{chosen}() if found else None

    def build(self):
        return torch.nn.RMSNorm(3)
"""


@pytest.mark.parametrize(("chosen", "said"), [("other", "where `build` is called"), ("build", "")])
def test_a_local_of_another_method_is_no_guard(tmp_path: Path, chosen: str, said: str) -> None:
    """`found` is a flag in one method, and a list in another; `has_bias` says what it is set to."""
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    text = OF_ONE_CLASS.format(chosen=chosen)
    (finding,) = lint(text, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert said in finding.message
    assert ("unless line 15 asks" in finding.message) is (said == "")


@pytest.mark.parametrize(
    ("text", "oldest", "said"),
    [
        ("from torch.fft import rfft\n", "1.6", "new in torch 1.7"),
        ("import torch.fft\n\nprint(torch.fft.rfft)\n", "1.6", "new in torch 1.7"),
        ("import torch\n\nprint(torch.fft.rfft)\n", "1.6", "new in torch 1.8"),
        ("import torch\n\nprint(torch.fft.rfft)\n", "1.7", "new in torch 1.8"),
        ("from torch.fft import rfft\n", "1.7", ""),
        ("import torch.fft\n\nprint(torch.fft.rfft)\n", "1.7", ""),
    ],
)
def test_a_module_that_a_function_hides_until_it_is_imported(tmp_path: Path, text: str, oldest: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["torch>={oldest}"]\n')
    findings = lint(text, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert len(findings) == bool(said)
    assert all(said in each.message for each in findings)


@pytest.mark.parametrize(
    ("tried", "level"),
    [
        ("import torch", "error"),
        ("import torch.optim as optim", "error"),
        ("from torch.func import vmap", "warning"),
        ("import torch.fft", "warning"),
    ],
)
def test_a_try_for_all_of_torch_asks_for_nothing_that_is_gone(tmp_path: Path, tried: str, level: str) -> None:
    text = (
        f"try:\n    {tried}\n    HAS = True\nexcept ImportError:\n    HAS = False\nimport torch\n\n"
        "def f(x):\n    return torch.rfft(x, 1)\n"
    )
    (finding,) = lint(text, path=str(tmp_path / "use.py"), codes=["TLN901"]).findings
    assert finding.level.value == level


@pytest.mark.parametrize(
    ("name", "taking", "is_shown"),
    [
        ("net/new.py", "from .new import other\n", False),
        ("net/new.py", "from .new import other, made\n", True),
        ("net/new.py", "from . import new\n", True),
        ("net/_vendor/new.py", "from ._vendor.new import made\n", False),
        ("net/vendors/new.py", "from .vendors.new import made\n", True),
    ],
)
def test_what_works_and_nobody_here_comes_to_is_strict(tmp_path: Path, name: str, taking: str, is_shown: bool) -> None:
    text = (
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n\ndef made(x):\n"
        "    return torch.nn.functional.upsample(checkpoint(len, x))\n\ndef other():\n    pass\n"
    )
    for each, written in {f"{Path(name).parent}/__init__.py": "", "net/__init__.py": taking, name: text}.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    codes = ["TLN902", "TLN903"]
    assert [each.code for each in lint(text, path=str(tmp_path / name), codes=codes).findings] == codes * is_shown


def test_a_test_is_called_by_its_name(tmp_path: Path) -> None:
    text = "import torch\n\ndef other():\n    pass\n\ndef test_it():\n    torch.nn.functional.upsample(torch.ones(1))\n"
    (tmp_path / "t").mkdir()
    for name, written in {"__init__": "", "test_a": text, "test_b": "from t.test_a import other\n"}.items():
        (tmp_path / "t" / f"{name}.py").write_text(written)
    assert lint(text, path=str(tmp_path / "t" / "test_a.py"), codes=["TLN902"]).findings


@pytest.mark.parametrize(
    ("files", "is_met"),
    [
        ({"net/block.py": "import torch\n\nmade = torch.compile\n"}, True),
        ({"net/block.py": "import torch\n\ndef made(kind=torch.float8_e4m3fn):\n    pass\n"}, True),
        ({"net/block.py": "from torch.func import vmap\n"}, True),
        ({"net/block.py": "from .other import made\n", "net/other.py": "from torch.func import vmap\n"}, True),
        ({"net/block.py": "import torch\n", "net/__init__.py": "from torch.func import vmap\n"}, True),
        ({"net/block.py": "import torch\n\ndef made():\n    return torch.compile\n"}, False),
        ({"net/block.py": "import torch\n\nmade = torch.linalg.solve\n"}, False),
        ({"net/block.py": "try:\n    from torch.func import vmap\nexcept ImportError:\n    vmap = None\n"}, False),
        ({"net/block.py": "import sys\n\nif sys.platform:\n    from torch.func import vmap\n"}, False),
    ],
)
def test_what_a_file_imports_cannot_be_loaded_before_either(
    tmp_path: Path, files: dict[str, str], is_met: bool
) -> None:
    use = "import torch\nfrom .block import made\n\ndef later():\n    return torch.compile(made)\n"
    every = {"net/__init__.py": "", "net/use.py": use, **files}
    assert found(tmp_path, "net/use.py", every) == ["TLN907"] * (not is_met)


CIRCLE = (
    "import torch\n\ndef check(x):\n    verify(x)\n    if not hasattr(torch, 'compile'):\n        raise ValueError\n\n"
)
CIRCLE += "def verify(x):\n    check(x)\n\n"


@pytest.mark.parametrize("order", ["check(1); verify(2)", "verify(1); check(2)", "verify(1)"])
def test_who_calls_one_that_raises_raises_whoever_is_asked_first(order: str) -> None:
    calls = order.replace("; ", "\n    ")
    text = f"{CIRCLE}def first(x):\n    check(x)\n    return torch.cholesky(x)\n\n"
    text += f"def made(x):\n    {calls}\n    return torch.cholesky(x)\n"
    assert not lint(text, path="/nowhere/x.py", codes=["TLN902"]).findings


def test_what_is_found_within_more_files_is_found_whoever_asked_before(tmp_path: Path) -> None:
    files = {"net/__init__.py": "", "net/flags.py": FLAGS}
    for name, source, taken in (("b", "flags", "MODERN"), ("c", "b", "B"), ("d", "c", "C")):
        files[f"net/{name}.py"] = f"from .{source} import {taken} as {name.upper()}\n"
    files["net/use.py"] = (
        "import torch\nfrom .d import D\nfrom .c import C\n\ndef one(x):\n    return torch.compile(x) if D else x\n\n"
        "def two(x):\n    return torch.compile(x) if C else x\n"
    )
    assert found(tmp_path, "net/use.py", files) == ["TLN907"]
    [one] = lint(files["net/use.py"], path=str(tmp_path / "net/use.py")).findings
    assert "mention" not in one.message  # four files away, and three


@pytest.mark.parametrize(("name", "codes"), [("_torch_docs", []), ("docs", ["TLN901"])])
def test_the_docs_of_a_copy_of_torch_are_of_it_too(tmp_path: Path, name: str, codes: list[str]) -> None:
    text = "import torch\n\nvalue = torch._six\n"
    for each, written in {
        "copied/__init__.py": "",
        "copied/torch/__init__.py": "",
        f"copied/torch/{name}.py": text,
    }.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    found = lint(text, path=str(tmp_path / f"copied/torch/{name}.py"), codes=["TLN901"]).findings
    assert [each.code for each in found] == codes


FALLS_BACK = """import torch

def faster(model):
    try:
        made = torch.compile(model)
        print("compiled")
        return made
    except Exception as error:
        print(error)
        {ends}
"""


@pytest.mark.parametrize(("ends", "is_asked"), [("return model", True), ("return None", False), ("raise", False)])
def test_a_function_that_answers_with_something_else(tmp_path: Path, ends: str, is_asked: bool) -> None:
    codes = found(tmp_path, "net/new.py", {"net/__init__.py": "", "net/new.py": FALLS_BACK.format(ends=ends)})
    assert codes == ([] if is_asked else ["TLN907"])


EXTRAS = """
[project]
dependencies = ["torch>=1.13", "numpy"]
[project.optional-dependencies]
llm = ["torch>=2.4", "gguf==0.18", "numpy"]
diffusion = ["torch>=2.0", "diffusers[torch]<=0.34", "shared-part"]
plain = ["shared-part", "torch"]
"""
ON_LOAD = "import torch\nimport {name}\n\nkind = torch.float8_e4m3fn\n"


@pytest.mark.parametrize(
    ("path", "imported", "said"),
    [
        ("net/convert.py", "gguf", None),
        ("net/convert.py", "numpy", "AttributeError at load; raise"),
        ("net/convert.py", "diffusers", "AttributeError at load; raise"),  # torch 2.0 lacks it, too
        ("net/convert.py", "shared_part", "AttributeError at load; raise"),
        ("net/llm/convert.py", "numpy", "unless this is for its extra `llm`, which begins at 2.4"),
        ("net_llm/convert.py", "numpy", "unless this is for its extra `llm`, which begins at 2.4"),
        ("net/llm.py", "numpy", "unless this is for its extra `llm`, which begins at 2.4"),
        ("net/diffusion/convert.py", "numpy", "AttributeError at load; raise"),
        ("net/smallm/convert.py", "numpy", "AttributeError at load; raise"),
    ],
)
def test_what_an_extra_raises(tmp_path: Path, path: str, imported: str, said: str | None) -> None:
    (tmp_path / "pyproject.toml").write_text(EXTRAS)
    top, text = path.partition("/")[0], ON_LOAD.format(name=imported)
    last = path.rpartition("/")[2].removesuffix(".py")
    files = {f"{top}/__init__.py": f"from .{last} import kind\n", path: text}
    if path.count("/") > 1:
        files[f"{top}/__init__.py"] = f"from .{path.split('/')[1]}.{last} import kind\n"
        files[f"{path.rpartition('/')[0]}/__init__.py"] = ""
    for each, written in files.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    findings = lint(text, path=str(tmp_path / path), codes=["TLN907"]).findings
    assert len(findings) == (said is not None)
    for each in findings:
        assert said in each.message
        assert each.level is (Level.WARNING if "extra" in said else Level.ERROR)


@pytest.mark.parametrize(("imported", "codes"), [("gguf", []), ("numpy", ["TLN907"])])
def test_what_an_extra_of_a_wheel_raises(tmp_path: Path, imported: str, codes: list[str]) -> None:
    information = tmp_path / "net-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: net\nRequires-Dist: torch>=1.13\nRequires-Dist: numpy\n"
        'Requires-Dist: gguf==0.18.0; extra == "llm"\nRequires-Dist: torch>=2.4; extra == "llm"\n\nText.\n'
    )
    text = ON_LOAD.format(name=imported)
    for each, written in {"net/__init__.py": "from .use import kind\n", "net/use.py": text}.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(written)
    assert [each.code for each in lint(text, path=str(tmp_path / "net/use.py"), codes=["TLN907"]).findings] == codes


SKIPS = """import torch
import pytest
import inspect

def _require_compile():
    if getattr(torch, "compile", None) is None:
        pytest.skip("needs torch.compile")

def run(model, strict):
    _require_compile()
    made = torch.compile(model)
    if "strict" in inspect.signature(torch.load).parameters:
        return made, strict
    return made

def other(model):
    return run(torch.func.functional_call(model), model)
"""


def test_a_test_that_is_skipped_and_one_that_asks_for_a_parameter(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    (tmp_path / "use.py").write_text(SKIPS)
    [one] = lint(SKIPS, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert "`torch.func" in one.message
    assert "unless line" not in one.message


def test_what_is_made_with_a_flag_is_none(tmp_path: Path) -> None:
    text = (
        "import torch\n\ndef main(given, wanted):\n    kind = given.half(hasattr(torch, 'compile'))\n"
        "    net = given.load(kind)\n    is_large = isinstance(net, wanted)\n    if net:\n        assert is_large\n"
        "    while net:\n        return torch.compile(net)\n"
    )
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    [one] = lint(text, path=str(tmp_path / "use.py"), codes=["TLN907"]).findings
    assert "unless line" not in one.message


@pytest.mark.parametrize(("beside", "codes"), [("_torch_docs.py", []), ("docs.py", ["TLN901"])])
def test_a_copy_of_torch_itself_names_what_it_has(tmp_path: Path, beside: str, codes: list[str]) -> None:
    package = tmp_path / "copied" / "torch"
    package.mkdir(parents=True)
    for name in ("copied/__init__.py", "copied/torch/__init__.py"):
        (tmp_path / name).write_text("")
    (package / beside).write_text("import torch\n")
    (package / "tensor.py").write_text("import torch\n\nvalue = torch._six\n")
    found = lint((package / "tensor.py").read_text(), path=str(package / "tensor.py"), codes=["TLN901"]).findings
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(("beside", "codes"), [("_torch_docs.py", []), ("docs.py", ["TLN901"])])
@pytest.mark.parametrize("file", ["tensor.py", "onnx/utils.py"])
def test_a_copy_of_torch_under_another_name_is_one(tmp_path: Path, beside: str, codes: list[str], file: str) -> None:
    package = tmp_path / "torch_copied"
    (package / "onnx").mkdir(parents=True)
    for name in ("__init__.py", "onnx/__init__.py", beside):
        (package / name).write_text("import torch\n")
    (package / file).write_text("import torch\n\nvalue = torch._six\n")
    found = lint((package / file).read_text(), path=str(package / file), codes=["TLN901"]).findings
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(("beside", "codes"), [("_torch_docs.py", []), ("docs.py", ["TLN901"])])
def test_stubs_of_what_a_copy_of_torch_has_compiled_are_of_it(tmp_path: Path, beside: str, codes: list[str]) -> None:
    package = tmp_path / "copied" / "torch"
    stub = package / "_C" / "_VariableFunctions.pyi"  # there is no `__init__.py` beside it
    stub.parent.mkdir(parents=True)
    for name in ("../__init__.py", "__init__.py", beside, "_C/__init__.pyi"):
        (package / name).write_text("import torch\n")
    stub.write_text("from torch._six import inf\n")
    found = lint(stub.read_text(), path=str(stub), codes=["TLN901"]).findings
    assert [each.code for each in found] == codes


COPIED = """import torch

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

value = torch._six
"""


@pytest.mark.parametrize("name", ["_dynamo/variables/torch.py", "testing/_internal/common.py"])
@pytest.mark.parametrize(("beside", "levels"), [("_torch_docs.py", ["strict"]), ("docs.py", ["warning", "error"])])
def test_a_copy_of_torch_is_no_code_of_who_copied_it(tmp_path: Path, name: str, beside: str, levels: list[str]) -> None:
    package = tmp_path / "copied" / "torch"
    path = package / name
    path.parent.mkdir(parents=True)
    for folder in {package, *path.relative_to(tmp_path).parents}:
        if folder != Path():
            (tmp_path / folder / "__init__.py").write_text("")
    (package / beside).write_text("import torch\n")
    path.write_text(COPIED)
    report = lint(COPIED, path=str(path), codes=["TLN504", "TLN901"], strict=True)
    assert [each.level.value for each in report.findings] == levels
    if levels == ["strict"]:
        assert lint(COPIED, path=str(path), codes=["TLN504", "TLN901"]).findings == ()


@pytest.mark.parametrize("body", ["check()", "verify()", "if depth: check()"])
def test_a_function_that_calls_itself_is_asked_once(body: str) -> None:
    text = f"import torch\n\ndef check(depth=0):\n    {body}\n\ndef verify():\n    check()\n\n"
    text += "def f(x):\n    check()\n    return torch._six\n"
    report = lint(text, path="/nowhere/x.py", codes=["TLN901"])
    assert [each.code for each in report.findings] == ["TLN901"]


@pytest.mark.parametrize(
    ("imports", "then"), [("import torch.fft as fft", True), ("import torch\nfft = torch.fft", False)]
)
def test_a_module_that_is_imported_fails_before_its_names(imports: str, then: bool) -> None:
    """Before torch 1.7 `torch.fft` is a function."""
    head = '# /// script\n# dependencies = ["torch>=1.2"]\n# ///\n'
    text = f"{head}{imports}\n\n\ndef spectrum(x):\n    return fft.rfft(x)\n"
    found = [each for each in lint(text, codes=["TLN907"]).findings if each.code == "TLN907"]
    assert any("`import torch.fft` raises ModuleNotFoundError; raise" in each.message for each in found) is then
    assert any("ask before it" in each.message for each in found) is then
