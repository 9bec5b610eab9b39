"""Which test of a file is said to keep a place from what an old torch does not have."""

from __future__ import annotations

import pytest
from expectations import lint

HEAD = """# /// script
# dependencies = ["torch>=2.0"]
# ///
import torch
from torch import nn

def layer(x, is_new=torch.compile):
"""
USE = "nn.LayerNorm(3, bias=False)"
ASKS = "if is_legacy(torch): return"


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        (f"{ASKS}\nprint({USE})", False),  # whoever leaves has been asked about
        (f"if is_legacy(torch): x = x.first\nif x: return {USE}", True),
        (f"print({USE})\n{ASKS}", False),
        (f"while x:\n    print({USE})\n    {ASKS}", False),
        (f"def made(): return {USE}\n{ASKS}\nmade()", True),
        (f"made = lambda: {USE}\n{ASKS}\nmade()", True),
        (f"if x:\n    {ASKS}\nelse:\n    print({USE})", False),
        (f"while x:\n    if x.first:\n        {ASKS}\n    else:\n        print({USE})", True),
    ],
)
def test_a_test_that_comes_later_keeps_nothing(body: str, asks: bool) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    messages = [each.message for each in lint(text).findings if each.code == "TLN907"]
    if body.startswith(ASKS):
        assert not messages
    else:
        assert ["asks for it" in each for each in messages] == [asks]


@pytest.mark.parametrize(
    ("made", "test", "asks"),
    [
        ("def __init__(self, has_image=False): pass", "has_image", False),
        ("def __init__(self, has_image): self.has_image = has_image", "self.has_image", False),
        ("def has_image(self): return self.image is not None", "self.has_image()", False),
        ("def __init__(self): pass", "x.supports_images", False),
        ("def __init__(self, has_norm=hasattr(nn, 'RMSNorm')): pass", "has_norm", True),
        ("def __init__(self): self.has_norm = hasattr(nn, 'RMSNorm')", "self.has_norm", True),
        ("has_norm = hasattr(nn, 'RMSNorm')", "self.has_norm", True),
        ("def has_norm(self): return hasattr(nn, 'RMSNorm')", "self.has_norm()", True),
        ("def made(self): return Model(has_norm=hasattr(nn, 'RMSNorm'))", "has_norm", True),
        ("def __init__(self): pass", "self.has_norm", True),  # of a class of another file
        ("def __init__(self, has_torch_norm): pass", "has_torch_norm", True),
        ("def __init__(self): pass", "HAS_NORM", True),
        ("def __init__(self): pass", "other.has_norm", True),
    ],
)
def test_what_is_said_to_be_had_is_of_torch_where_its_value_is(made: str, test: str, asks: bool) -> None:
    """`has_` and `supports_` are said of much: what the name is given tells, by the file and what it imports."""
    made = made.replace("): ", "):\n        ")
    text = (
        "# /// script\n# dependencies = ['torch>=2.0']\n# ///\nimport torch\nfrom torch import nn\nimport other\n"
        f"from models import HAS_NORM, Base\n\nclass Model(Base):\n    {made}\n\n"
        "    def norm(self, x, has_image=None, has_norm=None, has_torch_norm=None):\n"
        f"        if {test}:\n            return nn.RMSNorm(3)(x)\n        return x\n"
    )
    messages = [each.message for each in lint(text).findings if each.code == "TLN907"]
    assert bool(messages) is not asks


@pytest.mark.parametrize(
    ("imported", "said"),
    [
        ("torch.export.dynamic_shapes import Dim", "`torch.export.dynamic_shapes` is new in torch 2.3"),
        ("torch.export import Dim", "`Dim` is new in torch 2.2"),
        ("torch.utils.flop_counter import flop_registry", "raise that, further if `flop_registry` came later, or ask"),
        ("torch.utils.flop_counter import FlopCounterMode", "raise that, or ask first"),
    ],
)
def test_what_an_import_takes_from_a_module_that_is_new(imported: str, said: str) -> None:
    """The name may be older than the module, and what the table does not know younger."""
    text = f"# /// script\n# dependencies = ['torch>=2.0']\n# ///\nfrom {imported}\n"
    (message,) = [each.message for each in lint(text).findings if each.code == "TLN907"]
    assert said in message


@pytest.mark.parametrize(
    ("before", "test", "asks"),
    [
        ("from other import OPSET_VERSION", "OPSET_VERSION >= 14", False),
        ("from other import constants", "x.opset_version >= constants.MIN_OPSET_VERSION", False),
        ("import sys", "sys.version_info >= (3, 8)", False),
        ("import sys", "sys.version_info[:2] >= (3, 8)", False),
        ("import numpy as np", 'np.__version__ >= "1.20"', False),
        (
            "import numpy\nfrom packaging import version",
            'version.parse(numpy.__version__) >= version.parse("1.20")',
            False,
        ),
        ("version = 3", "version >= 3", False),
        ("", "version == 2", False),
        ("", 'version in ("small", "large")', False),
        ("", 'version == "v2"', False),
        ("", "x.file_version == '2.4'", False),
        ("", "legacy", False),
        ("try:\n    import onnx\n    ONNX = True\nexcept ImportError:\n    ONNX = False", "not ONNX", False),
        ("import importlib", 'importlib.metadata.version("numpy") >= "1.20"', False),
        ("", 'torch.__version__ >= "2.4"', True),
        ("import torch as th", 'th.__version__ >= "2.4"', True),
        ("from torch import __version__ as V", 'V >= "2.4"', False),  # not asked with a word that says so
        ("from torch import __version__ as version", 'version >= "2.4"', True),
        ("from packaging import version\nV = torch.__version__", 'version.parse(V) >= version.parse("2.4")', True),
        ("version = torch.__version__.split('.')", "int(version[0]) >= 2", True),
        ("version = tuple(map(int, torch.__version__.split('.')[:2]))", "version >= (2, 4)", True),
        ("from other import VERSION", "VERSION >= (2, 4)", True),
        ("from other import min_version", 'min_version("2.4")', True),
        ("from other import is_version", "is_version(2, 4)", True),
        (
            "try:\n    import torch.nn.attention.flex_attention\n    NEW = True\nexcept ImportError:\n    NEW = False",
            "NEW",
            True,
        ),
        ("NEW = hasattr(torch.nn, 'RMSNorm')", "NEW", True),
        ("", "has_torch_norm", True),
        ("FAST = getattr(torch, 'RMSNorm', None)", "torch.numel(x) and FAST", True),
        (
            "version = 'v1'\nURL = f'image.{version}'\nIMAGE = None\nIMAGE = load(URL)\n"
            "IMAGE = {k: v for k, v in IMAGE.items()}",
            "IMAGE",
            False,
        ),
        ("FAST = getattr(settings, 'RMSNorm', True)", "torch.numel(x) and FAST", False),
        (
            "def grown(x):\n    if hasattr(torch, 'RMSNorm'):\n        return torch.relu(x)\n    return abs(x)\n"
            "IMAGE = grown(1)",
            "torch.numel(IMAGE)",
            False,
        ),
        (
            "def asks(x):\n    if hasattr(torch, 'RMSNorm'):\n        return bool(x)\n    return False\nFAST = asks(1)",
            "torch.numel(x) and FAST",
            True,
        ),
    ],
)
def test_only_what_asks_about_torch_is_named(before: str, test: str, asks: bool) -> None:
    """Another test is no condition: who reads it looks for a guard that is none."""
    text = (
        f"# /// script\n# dependencies = ['torch>=2.0']\n# ///\nimport torch\n{before}\n\n"
        "def made(x, version=None, legacy=False, has_torch_norm=False):\n"
        f"    first = x\n    if {test}:\n        first = x + 1\n    if first:\n        return torch.nn.RMSNorm(3)\n"
    )
    if "version" in before.replace("__version__", "") or "VERSION" in before:
        text = text.replace("version=None, ", "")
    messages = [each.message for each in lint(text).findings if each.code == "TLN907"]
    assert ["unless line" in each for each in messages] == [asks]


@pytest.mark.parametrize(
    ("body", "subclass", "is_run"),
    [
        ("cls.device = torch.get_default_device()", "class Brick(Element): pass", True),
        ("cls.a = 1\n        cls.device = torch.get_default_device()", "class Brick(Element): pass", True),
        ("if cls.f:\n            cls.d = torch.get_default_device()", "class Brick(Element):\n    f = 1", False),
        ("cls.made = lambda: torch.get_default_device()", "class Brick(Element): pass", False),
        ("if not cls.f: return\n        cls.d = torch.get_default_device()", "class Brick(Element):\n    f = 1", False),
        ("cls.device = torch.get_default_device()", "", False),
        ("cls.device = torch.get_default_device()", "if other:\n    class Brick(Element): pass", False),
        ("cls.device = torch.get_default_device()", "class Brick(other.Element): pass", False),
    ],
)
def test_a_class_that_is_derived_runs_what_its_base_says(body: str, subclass: str, is_run: bool) -> None:
    text = (
        "# /// script\n# dependencies = ['torch>=2.0']\n# ///\nimport torch\n\nclass Element:\n"
        f"    def __init_subclass__(cls, **more):\n        {body}\n\n{subclass}\n"
    )
    (found,) = [each for each in lint(text).findings if each.code == "TLN907"]
    assert (found.level.value == "error") is is_run
    assert ("is called" not in found.message and "leads there" not in found.message) is is_run


@pytest.mark.parametrize(
    ("lines", "asks"),
    [
        ("v = torch.__version__\na, b = map(int, v.split('.'))[:2]", True),
        ("a, b, *_ = [int(each) for each in torch.__version__.split('.')]", True),
        ("[a, (b, _)] = 1, torch.__version__.split('.')[:2]", True),
        ("a, b = x.release.split('.')", False),
        ("(a, b), v = x, torch.__version__", False),
    ],
)
def test_what_is_unpacked_of_a_version_asks_for_it(lines: str, asks: bool) -> None:
    inside = "".join(f"    {line}\n" for line in [*lines.splitlines(), "if b > 2:", "    return nn.RMSNorm(3)(x)"])
    messages = [each.message for each in lint(f"{HEAD}{inside}    return x\n").findings if "RMSNorm" in each.message]
    assert bool(messages) is not asks
