"""What of a saved file `weights_only=True` refuses: torch is asked, and other files of the project are looked into."""

from __future__ import annotations

import ast
import io
import pickle
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from expectations import lint
from torch import nn

from torchlint.lint.checkpoints import Checkpoints
from torchlint.lint.pickled import MADE, is_of_values

HEAD = """
import argparse, collections, copy, datetime, decimal, enum, pathlib, random, types
import numpy as np
import torch
from collections import OrderedDict, defaultdict
from torch import nn

class Kind(enum.Enum):
    A = 1

class Settings:
    rate = 0.1

class Net(nn.Module):
    pass

net = nn.Linear(2, 3)
optimizer = torch.optim.Adam(net.parameters())
losses = [1.0, 2.0]
"""
LAST = HEAD.count("\n") + 1
REFUSED = [
    "net",
    "Net()",
    "{'net': Net(), 'epoch': 1}",
    "{'net': net.state_dict(), 'optimizer': optimizer}",
    "np.mean(losses)",
    "(1, torch.ones(2).numpy())",
    "[3, np.zeros(2)]",
    "defaultdict(list)",
    "copy.copy(defaultdict(list))",
    "{'kind': Kind.A}",
    "Settings()",
    "argparse.Namespace(a=1)",
    "argparse.ArgumentParser().parse_args([])",
    "dict(best=np.max(losses), epoch=1)",
    "pathlib.Path('a')",
    "{'order': range(3)}",
    "{'random': torch.Generator()}",
    "torch.__version__",
    "{'version': torch.__version__, 'net': net.state_dict()}",
    "dict(version=copy.copy(torch.__version__))",
]
LOADED = [
    "net.state_dict()",
    "{'net': net.state_dict(), 'optimizer': optimizer.state_dict()}",
    "float(np.mean(losses))",
    "np.mean(losses).item()",
    "np.zeros(2).tolist()",
    "torch.from_numpy(np.zeros(2))",
    "OrderedDict(a=1)",
    "collections.Counter('ab')",
    "Kind.A.value",
    "Kind.A.name",
    "vars(argparse.Namespace(a=1))",
    "Settings().rate",
    "dict(defaultdict(list))",
    "str(pathlib.Path('a'))",
    "torch.ones(2).requires_grad_()",
    "nn.Parameter(torch.ones(2))",
    "(torch.Size([1]), torch.device('cpu'), torch.float32, {1, 2}, None, 1j)",
    "np.shape(losses)",
    "list(range(3))",
    "torch.Generator().get_state()",
    "str(torch.__version__)",
    "{'version': f'{torch.__version__}', 'cuda': torch.version.cuda, 'same': torch.version.__version__}",
    "(torch.__version__.split('+')[0], torch.__version__[:3], torch.__version__ + '')",
]


@pytest.mark.parametrize(("what", "is_refused"), [(one, True) for one in REFUSED] + [(one, False) for one in LOADED])
def test_torch_refuses_what_is_said_to_be(what: str, is_refused: bool) -> None:
    import __main__

    names: dict[str, object] = vars(__main__)
    file = io.BytesIO()
    exec(f"{HEAD}\nsaved = {what}\n", names)
    torch.save(names["saved"], file)
    file.seek(0)
    if is_refused:
        with pytest.raises(Exception, match=r"[Ww]eights"):
            torch.load(file, weights_only=True)
    else:
        torch.load(file, weights_only=True)
    found = Checkpoints(ast.parse(f"{HEAD}\nsaved = {what}\ntorch.save(saved, 'file')\n")).kept
    assert bool(found) is is_refused


@pytest.mark.parametrize(("name", "made"), [(name, f"{name}({_})") for name, _ in {
    "collections.defaultdict": "list", "argparse.Namespace": "", "pathlib.Path": "'a'", "datetime.datetime": "1, 1, 1",
    "datetime.date": "1, 1, 1", "datetime.timedelta": "", "decimal.Decimal": "1", "types.SimpleNamespace": "",
    "random.Random": "1", "collections.deque": "[1]", "frozenset": "", "type": "1",
    "range": "3", "torch.Generator": "",
}.items()])  # fmt: skip
def test_everything_that_is_listed_is_refused(name: str, made: str) -> None:
    file, names = io.BytesIO(), dict[str, object]()
    exec(f"{HEAD}\nsaved = {made}\n", names)
    torch.save(names["saved"], file)
    file.seek(0)
    with pytest.raises(Exception, match=r"[Ww]eights"):
        torch.load(file, weights_only=True)
    file.seek(0)
    refused = MADE[name]
    expected = nullcontext() if refused.allowing else pytest.raises(Exception, match=r"[Ww]eights")
    allowed = names["saved"] if refused.allowing == "it" else type(names["saved"])
    with expected, torch.serialization.safe_globals([allowed]):  # type: ignore[list-item]
        torch.load(file, weights_only=True)


def test_every_listed_name_is_asked_about() -> None:
    assert len(MADE) == 14


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("best = 0\nfor each in losses:\n    mean = np.mean(losses)\n    best = mean\n", True),
        ("best = np.mean(losses)\nbest = float(best)\n", False),
        ("best = {}\nbest['loss'] = np.mean(losses)\n", True),
        ("best = {'loss': 1.0}\nbest['args'] = argparse.Namespace()\n", True),
        ("net.eval()\nbest = net\n", True),
        ("best = net.state_dict()\n", False),
        ("best = unknown()\n", False),
        ("def state():\n    return {'random': np.random.get_state()}\nbest = {'state': state()}\n", True),
        ("def state():\n    def of():\n        return np.ones(2)\n    return 1\nbest = {'state': state()}\n", False),
        ("best = {'made': type(net)}\n", True),
        ("release = torch.__version__\nbest = {'release': release}\n", True),
        ("from torch import __version__\nbest = {'release': __version__}\n", True),
        ("__version__ = '1.0'\nbest = {'release': __version__}\n", False),
        ("best = {'made': net.__class__}\n", True),
        ("best = {'made': type(net).__name__}\n", False),
    ],
)
def test_names_are_followed(body: str, refused: bool) -> None:
    assert bool(Checkpoints(ast.parse(f"{HEAD}\n{body}torch.save(best, 'file')\n")).kept) is refused


@pytest.mark.parametrize(
    ("signature", "used", "refused"),
    [
        ("args", "args.rate", True),
        ("args", "args['rate']", False),
        ("args", "args.shape", False),
        ("args", "args.keys()", False),
        ("args", "args.rate if hasattr(args, 'rate') else args", False),
        ("args: argparse.Namespace", "0", True),
        ("args: Settings", "0", True),
        ("args: Kind", "0", True),
        ("args: torch.Tensor", "0", False),
        ("args: dict", "0", False),
        ("args: nn.Module", "0", True),
    ],
)
def test_parameters_that_are_saved(signature: str, used: str, refused: bool) -> None:
    text = f"{HEAD}\ndef keep({signature}):\n    print({used})\n    torch.save({{'args': args}}, 'file')\n"
    assert bool(Checkpoints(ast.parse(text)).kept) is refused


@pytest.mark.parametrize(
    ("used", "refused"),
    [
        ("self.args.rate", True),
        ("self.args['rate']", False),
        ("self.args.get('rate')", False),
        ("self.args.rate if hasattr(self.args, 'rate') else self.args", False),
        ("self.other.rate", False),
    ],
)
def test_attributes_that_are_saved(used: str, refused: bool) -> None:
    saver = f"""
class Saver:
    def __init__(self, args=None):
        self.args = args
        self.other = args

    def rate(self):
        return {used}

    def keep(self, net):
        state = {{"net": net.state_dict()}}
        if self.args is not None:
            state["args"] = self.args
        torch.save(state, "file")
"""
    assert bool(Checkpoints(ast.parse(HEAD + saver)).kept) is refused


@pytest.mark.parametrize(
    "value",
    [
        torch.Tensor(),
        nn.Parameter(torch.ones(1)),
        torch.device("cpu"),
        torch.float32,
        torch.Size([1]),
        "",
        1,
        {},
        [],
        1j,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_plain_values_have_tells_nothing(value: object) -> None:
    assert [name for name in dir(value) if not name.startswith("_") and not is_of_values(name)] == []


RUNS = "in spite of it, a crafted file runs code before torch 2.6 (CVE-2025-32434)"
ENOUGH = "takes little but tensors and Python's numbers, texts, lists and dicts"
RAISE = f"{ENOUGH}. If it holds no others, raise the lower end to torch 2.10: in spite of it, a crafted file "
MEMORY = "corrupts memory before torch 2.10 (CVE-2026-24747)"
PERHAPS = f"{RAISE}runs code before torch 2.6 (CVE-2025-32434) and {MEMORY}"
LOAD = """
import torch

def restored(path):
    kept = torch.load(path)
    return kept
"""


NAMED = LOAD.replace("(path)\n    return", "(path / 'net.pt')\n    return")


def project(folder: Path, files: dict[str, str]) -> None:
    (folder / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (
            {"net/trainer.py": f"{HEAD}torch.save(net, 'net.pt')\n"},
            f"refuses a whole module (line {LAST} of net/trainer.py)",
        ),
        (
            {"net/a/deep.py": f"{HEAD}torch.save(np.mean(losses), 'net.pt')\n"},
            f"refuses a value of NumPy's (line {LAST} of net/a/deep.py)",
        ),
        ({"net/trainer.py": f"{HEAD}torch.save(net, 'other.pt')\n"}, PERHAPS),
        ({"net/trainer.py": f"{HEAD}torch.save(net.state_dict(), 'a')\n"}, PERHAPS),
        ({"other/trainer.py": f"{HEAD}torch.save(net, 'a')\n"}, PERHAPS),
        ({"net/trainer.py": "torch.save(net,\n"}, PERHAPS),
    ],
)
def test_what_other_files_of_the_project_save(tmp_path: Path, others: dict[str, str], said: str) -> None:
    project(tmp_path, {"net/__init__.py": "", "net/loading.py": NAMED, "net/a/__init__.py": "", **others})
    report = lint(NAMED, path=str(tmp_path / "net/loading.py"), strict=True)
    (found,) = report.findings
    assert found.code == "TLN904"
    assert said in found.message
    looked = {each.path for each in report.depends if each.digest}
    assert {str(tmp_path / name) for name in others if name.startswith("net")} <= looked


def test_a_script_looks_beside_itself_only(tmp_path: Path) -> None:
    saving = f"{HEAD}torch.save(net, 'net.pt')\n"
    project(tmp_path, {"load.py": NAMED, "below/train.py": saving})
    assert lint(NAMED, path=str(tmp_path / "load.py"), strict=True).findings[0].message.endswith(PERHAPS)
    project(tmp_path, {"train.py": saving})
    assert (
        lint(NAMED, path=str(tmp_path / "load.py"), strict=True).findings[0].message.count(f"line {LAST} of train.py")
        == 1
    )


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (
            "kept.eval()",
            "line 6 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
        (
            "kept['net'].parameters()",
            "line 6 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
        (
            "kept(1)",
            "line 6 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
        ("kept['args'].rate", "line 6 uses it as an object, which torch refuses from 2.6 on; save its plain values"),
        ("vars(kept['args'])", "line 6 uses it as an object, which torch refuses from 2.6 on; save its plain values"),
        ("kept.encoder(1)", "line 6 uses it as an object, which torch refuses from 2.6 on; save its plain values"),
        (
            "kept['optimizer'].state_dict()",
            "line 6 uses it as a whole object, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
        ("kept['weight'].shape", PERHAPS),
        ("kept.to('cpu')", PERHAPS),
        ("kept.requires_grad_()", PERHAPS),
        ("kept.items()", PERHAPS),
        ("kept.get('a')", PERHAPS),
        ("kept.get('a').shape", PERHAPS),
        (
            "kept.get('net', None)['encoder'].parameters()",
            "line 6 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
        (
            "kept.get('maker').from_file(path)",
            "line 6 uses it as an object, which torch refuses from 2.6 on; save its plain values",
        ),
        ("kept['name'].upper()", PERHAPS),
        ("kept.eval() if hasattr(kept, 'eval') else kept", PERHAPS),
    ],
)
def test_what_the_program_makes_of_it(tmp_path: Path, used: str, said: str) -> None:
    text = LOAD.replace("    return kept", f"    print({used})\n    return kept")
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.message.endswith(said)


WRITES = f"""{HEAD}
def write(content, place):
    torch.save(content, place)

def keep(folder, epoch):
    history = defaultdict(list)
    state = {{"net": net.state_dict(), "history": history}}
    state["epoch"] = epoch
    write(state, folder / "kept.pt")
"""


@pytest.mark.parametrize(
    ("loading", "said"),
    [
        ("kept['history']", "the default from 2.6 on, refuses a `defaultdict` (line 22 of train.py)"),
        ("kept.get('epoch')", "refuses a `defaultdict`"),
        ("'net' in kept", "refuses a `defaultdict`"),
        ("kept['net'], kept['scaler'], kept['epoch']", PERHAPS),  # of another function, which saves more
        ("kept['net'], kept.get('scaler')", "refuses a `defaultdict`"),
        ("kept['net'], kept['scaler'] if path.name else None", "refuses a `defaultdict`"),
        ("kept['net'], kept['scaler'] if 'scaler' in kept else None", "refuses a `defaultdict`"),
        ("kept", PERHAPS),
        ("kept[path.name]", PERHAPS),
        ("kept['state_dict']", PERHAPS),
        ("kept['state_dict'] if 'weights' in kept else kept.get('model')", PERHAPS),
    ],
)
def test_which_file_it_is(tmp_path: Path, loading: str, said: str) -> None:
    text = LOAD.replace("return kept", f"return {loading}")
    project(tmp_path, {"load.py": text, "train.py": WRITES})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert said in found.message
    cures = [step.message for step in found.trace]
    assert ("; save `dict(…)` of it" in found.message) is ("refuses" in said)
    assert not any("its class by" in each and "more than" not in each for each in cures)


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("torch>=2.10", ENOUGH),
        ("torch>=2.6", f"{RAISE}{MEMORY}"),
        ("torch>=2.6,<2.8", f"{ENOUGH}; in spite of it, a crafted file {MEMORY}"),
        ("torch>=2.1,<2.9", f"{RAISE.replace('2.10', '2.6')}runs code before torch 2.6 (CVE-2025-32434) and {MEMORY}"),
        ("torch>=2.0", PERHAPS),
        ("torch>=1.13", f"{PERHAPS}; that of torch 1.13 refuses floats"),
        ("torch>=1.8", f"{PERHAPS}; torch before 1.13 has no `weights_only`"),
        (
            "torch>=2.1,<2.4",
            f"texts, lists and dicts; {RUNS} and {MEMORY}",
        ),
        (
            "torch>=1.12,<2.1",
            f"; {RUNS} and {MEMORY}; torch before 1.13 has no `weights_only`",
        ),
    ],
)
def test_what_the_range_makes_of_it(tmp_path: Path, requirement: str, said: str) -> None:
    text = LOAD.replace("(path)\n    return", "(path, weights_only=False)\n    return")
    project(tmp_path, {"load.py": text})
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requirement}"]\n')
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.message.endswith(said)


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (">=3.8", "to torch 2.10, which needs Python 3.10: in"),
        (">=3.9", "to torch 2.10, which needs Python 3.10: in"),
        (">=3.10", "to torch 2.10: in"),
        (">=3.8,<3.10", "to torch 2.6, which needs Python 3.9: in"),  # the last for 3.9 is 2.8
        (">=3", "to torch 2.10: in"),
    ],
)
def test_the_python_that_a_release_needs_is_named_where_the_project_allows_an_older_one(
    tmp_path: Path, python: str, said: str
) -> None:
    project(tmp_path, {"load.py": LOAD})
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nrequires-python = "{python}"\ndependencies = ["torch>=2.1"]\n'
    )
    (found,) = lint(LOAD, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert said in found.message
    text = "import torch\n\nprint(torch.accelerator)\n"
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN907"]).findings
    assert ("raise that to 2.6, which needs Python 3.9," in found.message) is ("3.8" in python)


def test_numbers_of_numpy_are_none_that_weights_only_takes() -> None:
    for value, is_taken in ((1.0, True), (2**70, True), (np.float64(1.0), False), (np.int64(1), False)):
        torch.save({"best": value}, file := io.BytesIO())
        file.seek(0)
        with nullcontext() if is_taken else pytest.raises(pickle.UnpicklingError):
            torch.load(file, weights_only=True)


@pytest.mark.parametrize(
    ("requirement", "used", "level"),
    [
        ("torch>=2.0", "kept.pos", "warning"),
        ("torch>=2.0,<2.4", "kept.pos", "strict"),
        ("torch>=2.0", "kept", "warning"),
        ("torch>=2.0,<2.4", "kept", "strict"),
        ("torch>=2.0,<2.4", "kept['epoch']", "warning"),
        ("torch>=2.0,<2.4", "net.load_state_dict(kept)", "warning"),
    ],
)
def test_where_no_release_that_is_allowed_is_safe(tmp_path: Path, requirement: str, used: str, level: str) -> None:
    """Neither a higher lower end nor another argument is of use, unless something says that weights are loaded."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requirement}"]\n')
    text = f"import torch\n\ndef load(net, path):\n    kept = torch.load(path)\n    return {used}\n"
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


@pytest.mark.parametrize(
    ("name", "line", "level"),
    [
        ("load.py", "", "warning"),
        ("load.py", "  # on the CPU", "warning"),
        ("load.py", "  # our own files: trusted", "strict"),
        ("load.py", "  # nosec B614", "strict"),
        ("tests/test_load.py", "", "strict"),
        ("conftest.py", "", "strict"),
        ("testing/load.py", "", "warning"),
    ],
)
def test_whose_choice_it_is(tmp_path: Path, name: str, line: str, level: str) -> None:
    text = LOAD.replace("(path)\n    return", f"(path, weights_only=False){line}\n    return").replace(
        "kept", "weights"
    )
    project(tmp_path, {name: text})
    (found,) = lint(text, path=str(tmp_path / name), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


DECLARED = "kept = torch.load(path, weights_only=False)\n        self.a: {} = kept['a']"
CLASS = """
import torch

class Kept:
    def save(self, path):
        torch.save({saved}, {place})

    def load(self, path):
        {loads}
"""


@pytest.mark.parametrize(
    ("loads", "saved", "place", "level"),
    [
        ("return torch.load(path, weights_only=False)", "self.state()", "path", "strict"),
        ("return torch.load(path, weights_only=False)", "{'a': self.a}", "path", "warning"),
        ("self.net.load_state_dict(torch.load(path, weights_only=False))", "self.state()", "path", "strict"),
        (
            "kept = torch.load(path, weights_only=False)\n        self.net.load_state_dict(kept['net'])",
            "",
            "",
            "warning",
        ),
        ("kept = torch.load(path, weights_only=False)\n        self.epoch = kept.get('epoch')", "", "", "warning"),
        ("state_dict = torch.load(path, weights_only=False)\n        return state_dict", "", "", "warning"),
        ("return torch.load(path / 'weights.pt', weights_only=False)", "", "", "warning"),
        ("return torch.load(path, weights_only=False)", "", "", "strict"),
        ("return torch.load(path)", "", "", "warning"),
        ("return torch.load(path)", "{'a': torch.nn.ReLU()}", "path", "strict"),
        ("return torch.load(path)['a']", "{'a': torch.nn.ReLU()}", "path", "warning"),
        ("return torch.load(path)['b']", "{'a': torch.nn.ReLU()}", "path", "warning"),
        ("return torch.load('best.pt')", "self.net.cpu().eval()", "'best.pt'", "warning"),
        ("return torch.load(path)['a']", "{'a': self.a}", "path", "warning"),
        ("return torch.load(self.folder / path)", "{'a': self.a}", "self.folder / 'a.pt'", "strict"),
        ("return torch.load(f'{self.folder}/a.pt')", "{'a': self.a}", "str(self.folder) + path", "strict"),
        ("return torch.load(path)", "{'a': self.a}", "self.folder / path", "warning"),
        ("return torch.load(self.folder / 'x/kept.pt')", "{'a': self.a}", "path / 'kept.pt'", "strict"),
        ("return torch.load(path / 'kept.pt')", "{'a': self.a}", "path / 'kept.pt'", "warning"),
        ("return torch.load(self.paths[0])", "(self.a, self.b)", "self.paths[1]", "strict"),
        ("return torch.load(os.path.join(self.processed_dir, 'a.pt'))", "", "", "strict"),
        (DECLARED.format("Config"), "{'a': self.a}", "path", "strict"),
        (DECLARED.format("dict"), "{'a': self.a}", "path", "warning"),
        (DECLARED.format("torch.Tensor"), "{'a': self.a}", "path", "warning"),
    ],
)
def test_what_is_worth_a_warning(tmp_path: Path, loads: str, saved: str, place: str, level: str) -> None:
    text = CLASS.replace("{loads}", loads).replace("{saved}", saved).replace("{place}", place)
    text = text if saved else text.replace("torch.save(, )", "pass")
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


def test_who_calls_it_uses_it_as_an_object(tmp_path: Path) -> None:
    text = LOAD + "\ndef model(path):\n    net = restored(path)\n    net.eval()\n    return net\n"
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"]).findings
    assert found.message.endswith(
        "line 10 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that"
    )


def test_a_comment_above_says_why() -> None:
    text = LOAD.replace("    kept =", "    # weights_only=False: holds NumPy's\n    # arrays\n    kept =")
    text = text.replace("(path)\n    return", "(\n        path, weights_only=False)\n    return")
    (found,) = lint(text, strict=True, codes=["TLN904"]).findings
    assert found.level.value == "strict"


@pytest.mark.parametrize(
    ("returned", "refused"), [("nn.ReLU()", True), ("{'net': nn.ReLU()}", True), ("None", True), ("[1.0]", False)]
)
def test_one_return_that_is_loaded_leaves_it_open(returned: str, refused: bool) -> None:
    text = (
        "import torch\nfrom torch import nn\n\ndef kept(wanted):\n    if wanted:\n        return nn.Linear(2, 3)\n"
        f"    return {returned}\n\ndef save(path):\n    torch.save(kept(True), path)\n\n"
        "def load(path):\n    return torch.load(path, weights_only=False)\n"
    )
    (found,) = lint(text, path="/nowhere/load.py", codes=["TLN904"], strict=True).findings
    assert ("refuses a whole module" in found.message) == refused


@pytest.mark.parametrize(("requirement", "offered"), [("torch~=2.2.0", False), ("torch>=2.2", True)])
def test_classes_are_allowed_where_torch_can_allow_them(tmp_path: Path, requirement: str, offered: bool) -> None:
    text = "import torch\nfrom torch import nn\n\ndef restored(path):\n    torch.save(nn.Linear(2, 3), path)\n"
    text += "    return torch.load('other.pt', weights_only=False)\n"
    project(tmp_path, {"load.py": text})
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requirement}"]\n')
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert "refuses a whole module" in found.message
    assert any("add_safe_globals" in step.message for step in found.trace) == offered


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ("with allowed_by_safe_globals():", PERHAPS),
        ("with torch.serialization.safe_globals([Net]):", PERHAPS),
        (
            "with torch.no_grad():",
            "line 7 uses it as a whole module, which torch refuses from 2.6 on; save its `state_dict()` and load that",
        ),
    ],
)
def test_what_a_context_allows_is_not_refused(tmp_path: Path, around: str, said: str) -> None:
    text = LOAD.replace("    kept =", f"    {around}\n        kept =").replace("return kept", "return kept.eval()")
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.message.endswith(said)


@pytest.mark.parametrize(("given", "count"), [(", pickle_module=pickle", 0), (", None, pickle", 0), (", 'cpu'", 1)])
def test_another_pickle_module_is_a_choice_on_every_torch(tmp_path: Path, given: str, count: int) -> None:
    text = LOAD.replace("(path)\n    return", f"(path{given})\n    return")
    project(tmp_path, {"load.py": text})
    assert len(lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings) == count


OWN = """
import io, pickle, tempfile
import torch
from torch import nn

def trip(module):
    module(1)
    with io.BytesIO() as buffer:
        torch.save({saved}, buffer)
        module = torch.load({place})
    return module(2)
"""
REFUSED = "of what line 9 writes: line 11 uses it as a whole module, which torch refuses from 2.6 on"


@pytest.mark.parametrize(
    ("requirement", "saved", "place", "level", "said"),
    [
        ("torch>=2.1", "module", "io.BytesIO(buffer.getvalue())", "warning", REFUSED),
        ("torch>=2.1", "nn.ReLU()", "buffer", "warning", REFUSED),
        ("torch>=2.1,<2.6", "module", "buffer", "strict", "of what line 9 writes"),
        ("torch>=2.1", "module", "file", "warning", "runs what the file tells it to before torch 2.6"),
        ("torch>=2.1", "module", "other.getvalue()", "warning", "runs what the file tells it to before torch 2.6"),
    ],
)
def test_what_the_function_has_written_itself(
    tmp_path: Path, requirement: str, saved: str, place: str, level: str, said: str
) -> None:
    """Nobody else has written it: what torch refuses from 2.6 on is worth a word, what a pickle may do is not."""
    text = OWN.format(saved=saved, place=place)
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requirement}"]\n')
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert (found.level.value, said in found.message) == (level, True), found.message
    cures = [step.message for step in found.trace]
    assert ("or say `weights_only=False`" in cures) is ("of what line" in said)


@pytest.mark.parametrize(
    ("beside", "level"),
    [("pickle.load(path)", "strict"), ("joblib.load(path)", "strict"), ("json.load(path)", "warning")],
)
def test_beside_a_pickle_nothing_is_gained(tmp_path: Path, beside: str, level: str) -> None:
    text = (
        "import pickle, joblib, json\nimport torch\n\ndef load(net, path):\n"
        f"    rest = {beside}\n    net.load_state_dict(torch.load(path, weights_only=False))\n"
    )
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


@pytest.mark.parametrize(("base", "level"), [("pickle.Unpickler", "strict"), ("object", "warning")])
def test_in_an_unpickler_nothing_is_gained(tmp_path: Path, base: str, level: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    text = (
        f"import io, pickle\nimport torch\n\nclass OnTheCpu({base}):\n    def find_class(self, module, name):\n"
        "        if name == '_load_from_bytes':\n            return lambda weights: torch.load(io.BytesIO(weights))\n"
        "        return super().find_class(module, name)\n"
    )
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


def test_a_key_that_is_put_together_is_no_failure() -> None:
    text = (
        "import torch\n\ndef convert(path, out):\n    kept = torch.load(path, weights_only=False)\n    named = {}\n"
        "    for k, v in kept['model'].items():\n        named['transformer.' + k] = v\n        named['a'] = v\n"
        "    torch.save(named, out)\n"
    )
    found = lint(text, path="/nowhere/convert.py", codes=["TLN904"], strict=True).findings
    assert [each.code for each in found] == ["TLN904"]


@pytest.mark.parametrize(
    ("importing", "loaded", "level"),
    [
        ("from .stopping import Stopper", "best.pth", "strict"),
        ("from net import stopping", "best.pth", "strict"),
        ("import os", "best.pth", "warning"),  # another run may have written it, or somebody else
        ("from .stopping import Stopper", "other.pth", "warning"),
        ("from .stopping import Stopper", "/tmp/best.pth", "warning"),
    ],
)
def test_what_an_imported_file_writes_the_run_has_written(
    tmp_path: Path, importing: str, loaded: str, level: str
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    stopping = (
        f"import torch\n\ndef keep(net):\n    torch.save(net.state_dict(), {loaded.replace('other', 'best')!r})\n"
    )
    text = f"import torch\n{importing}\n\ndef stop(net):\n    net.load_state_dict(torch.load({loaded!r}))\n"
    for name, written in {"__init__": "", "stopping": stopping, "train": text}.items():
        (tmp_path / "net" / f"{name}.py").write_text(written)
    (found,) = lint(text, path=str(tmp_path / "net" / "train.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


@pytest.mark.parametrize(
    ("asked", "read", "saves"),
    [
        ("getattr(self.encoder, 'scale', 1)", "self.encoder.levels", True),
        ("getattr(self.encoder, 'scale', 1)", "self.encoder.scale", False),
        ("getattr(self.encoder, 'scale', 1)", "self.encoder.shape", False),
        ("getattr(self.encoder, 'shape', 1)", "self.encoder.levels", False),
        ("hasattr(self.encoder, 'levels')", "self.encoder.levels", False),
        ("isinstance(self.encoder, str)", "self.encoder.levels", False),
    ],
)
def test_a_field_with_a_default_asks_for_that_field_alone(tmp_path: Path, asked: str, read: str, saves: bool) -> None:
    text = (
        "import torch\n\nclass Data:\n    def write(self, path):\n        torch.save({"
        "'encoder': self.encoder}, path)\n\n"
        "    def read(self, path):\n        self.encoder = torch.load(path)['encoder']\n"
        f"        self.scale = {asked}\n\n    def levels(self):\n        return {read}\n"
    )
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert ("saves an object" in found.message) == saves


KINDS = """
import torch
from torch import nn
import numpy as np

class Settings:
    def __init__(self):
        self.rate = 0.1

class Table(dict):
    pass

class Trainer:
    def __init__(self):
        self.best = 0.0

    def measure(self, losses):
        mean = np.mean(losses)
        if mean > self.best:
            self.best = {measured}

    def keep(self, net, path):
        torch.save({saved}, path)

    def restore(self, path):
        kept = torch.load(path, weights_only=False)
        self.best = kept["best"]
"""


@pytest.mark.parametrize(
    ("measured", "saved", "refused"),
    [
        ("mean", "{'best': self.best}", "a value of NumPy's"),
        ("float(mean)", "{'best': self.best}", ""),
        ("losses.first", "{'best': self.best}", ""),
        ("0", "{'best': net.state_dict() if hasattr(net, 'state_dict') else net}", ""),
        ("0", "{'best': net.state_dict() if isinstance(net, nn.Module) else net}", ""),
        ("0", "{'best': net if not hasattr(net, 'state_dict') else net.state_dict()}", ""),
        ("0", "{'best': net.state_dict() if hasattr(net, 'state_dict') else np.ones(2)}", "a value of NumPy's"),
        ("0", "{'best': net.state_dict() if self.best else net}", "a whole object"),
        ("0", "{'best': Settings()}", "an object of `Settings`"),
        ("0", "{'best': Table()}", "an object of `Table`"),
    ],
)
def test_what_may_be_of_two_kinds(tmp_path: Path, measured: str, saved: str, refused: str) -> None:
    text = KINDS.replace("{measured}", measured).replace("{saved}", saved)
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert (refused in found.message) if refused else ("refuses" not in found.message)
    trace = " ".join(step.message for step in found.trace)
    if "object of" in refused:
        assert ("or allow its class, and those of what it holds, by" in trace) is ("Table" not in refused)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("best = 0.0\n    for each in losses:\n        torch.save([best], path)\n        best = np.mean(each)", True),
        ("best = 0.0\n    torch.save({'best': best}, path)\n    best = np.mean(losses)", False),
        (
            "best = -np.inf\n    while losses:\n        torch.save({'best': best}, path)\n        best = max(losses)",
            False,
        ),
        ("if hasattr(net, 'state_dict'):\n        net = net.state_dict()\n    torch.save({'best': net}, path)", False),
        (
            "try:\n        kept = net.state_dict()\n    except AttributeError:\n        kept = net\n"
            "    torch.save({'best': kept}, path)",
            False,
        ),
        ("net.eval()\n    torch.save({'best': net}, path)", True),
        ("torch.serialization.save({'best': np.ones(2)}, path)", True),
    ],
)
def test_what_a_function_saves_in_the_end(body: str, refused: bool) -> None:
    text = f"import torch\nimport numpy as np\n\ndef keep(net, losses, path):\n    {body}\n"
    assert bool(Checkpoints(ast.parse(text)).kept) is refused


@pytest.mark.parametrize("made", ["dict", "list", "collections.OrderedDict", "collections.defaultdict"])
def test_what_a_pickle_fills_may_not_be_allowed(made: str) -> None:
    """So says torch, and so it is told."""
    import __main__

    names: dict[str, object] = vars(__main__)
    exec(f"import collections\nclass Filled({made}): pass\nsaved = Filled()\n", names)
    saved = names["saved"]
    saved.append(1) if isinstance(saved, list) else saved.update(a=1)  # type: ignore[attr-defined]
    file = io.BytesIO()
    torch.save(saved, file)
    file.seek(0)
    with pytest.raises(Exception, match=r"[Ww]eights"), torch.serialization.safe_globals([type(saved)]):
        torch.load(file, weights_only=True)
    text = f"import collections, torch\nclass Filled({made}): pass\ntorch.save(Filled(), 'file')\n"
    (kept,) = Checkpoints(ast.parse(text)).kept
    assert kept.pickled.allowing == ""


@pytest.mark.parametrize(("variable", "level"), [("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "strict"), ("OTHER", "warning")])
@pytest.mark.parametrize("beside", [False, True])
def test_a_project_that_tells_torch_to_unpickle_knows_its_files(
    tmp_path: Path, variable: str, level: str, beside: bool
) -> None:
    said = f'import os\n\nos.environ["{variable}"] = "1"\n'
    text = "import torch\n\n\ndef restored(path):\n    return torch.load(path)\n"
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.0"]\n')
    (tmp_path / "__init__.py").write_text(said if beside else "")
    text = text if beside else said + text
    (tmp_path / "use.py").write_text(text)
    (found,) = lint(text, path=str(tmp_path / "use.py"), codes=["TLN904"], strict=True).findings
    assert found.level.value == level


@pytest.mark.parametrize(
    ("alias", "save"),
    [
        ("put = torch.save", "put"),
        ("from torch import save\nput = save", "put"),
        ("import torch as th\nput = th.serialization.save", "put"),
        ("put = print", "torch.save"),
    ],
)
def test_a_function_by_another_name_saves_too(tmp_path: Path, alias: str, save: str) -> None:
    text = (
        f"import torch\n{alias}\n\ndef run(net):\n    {save}(net, 'net.pt')\n    return torch.load('net.pt')\n\n"
        "run(torch.nn.Linear(2, 3))\n"
    )
    project(tmp_path, {"load.py": text})
    (found,) = lint(text, path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True).findings
    assert "of what line" in found.message


@pytest.mark.parametrize(
    ("run", "level"),
    [
        ("subprocess.run(['train'], check=True)", "strict"),
        ("p = subprocess.Popen(['train'])\n    p.wait()", "strict"),
        ("os.system('train')", "strict"),
        ("CliRunner().invoke(train, [])", "strict"),
        ("print('train')", "warning"),
        ("subprocess.list2cmdline([])", "warning"),
    ],
)
@pytest.mark.parametrize("name", ["test_run.py", "evaluate.py"])
def test_what_a_test_has_run_wrote_what_it_loads(tmp_path: Path, run: str, level: str, name: str) -> None:
    text = (
        "import os\nimport subprocess\nimport torch\nfrom click.testing import CliRunner\n\n"
        f"def test_it(path):\n    {run}\n    model = torch.load(path)\n    assert model.r_max\n"
    )
    project(tmp_path, {name: text})
    (found,) = lint(text, path=str(tmp_path / name), codes=["TLN904"], strict=True).findings
    assert found.level.value == (level if name.startswith("test_") else "warning")


WHOLE = """import torch

class Predictor:
    def __init__(self, path):
        {}

    def predict(self, x):
        {}
"""


@pytest.mark.parametrize(
    ("loads", "uses", "line"),
    [
        ("self.model = torch.load(path)", "return self.model(x)", 8),
        ("self.model = torch.load(path)\n        self.model.eval()", "return x", 6),
        ("self.model = torch.load(path).cuda()", "return self.model.train(False)", 8),
        ("self.model = torch.load(path).to('cpu').eval()", "return x", 5),
        ("net = torch.load(path).to('cpu')\n        self.out = net(path)", "return x", 6),
        ("self.model = torch.load(path)", "return self.model['x']", 0),
        ("self.model = torch.load(path)", "return self.model.to('cpu')", 0),
        ("self.model = torch.load(path).cuda()", "return self.model + x", 0),
        ("self.model = torch.load(path)", "self.model = len\n        return self.model(x)", 0),
        ("self.model = torch.load(path)", "return other.model(x)", 0),
        ("self.model = torch.load(path)", "return self.model(x) if callable(self.model) else x", 0),
        ("other.model = torch.load(path)", "return self.model(x)", 0),
    ],
)
def test_a_whole_module_is_known_by_what_its_holder_does_with_it(
    tmp_path: Path, loads: str, uses: str, line: int
) -> None:
    project(tmp_path, {"load.py": WHOLE.format(loads, uses)})
    found = lint((tmp_path / "load.py").read_text(), path=str(tmp_path / "load.py"), codes=["TLN904"], strict=True)
    (finding,) = found.findings
    assert (f"line {line} uses it as a whole module" in finding.message) is bool(line)
