"""
`torchlint new-rule NAME`: writes a rule of one's own, with its page, its examples and a test that passes at once.

The files are a start: a rule on an event, or with `--visitor` one on a kind of libcst node, with a message, a claim, a
fix, and what each is for in the comments.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from pathlib import Path

import click

from torchlint.hosts.command_line.output import explained

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CODE = re.compile(r"[A-Z]{3,8}\d{3}")

OWN = "TLN"
"""What the codes of torchlint's own rules begin with."""

RULE = '''from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Rule
from torchlint.truth import Truth


class {cls}(Rule):
    """
    The gradient that backward starts with is given, and the root is a scalar.

    ## What it does
    Finds `loss.backward(gradient)` where `loss` is a scalar: the first line above and this section say what is found.

    ## Why is this bad?
    The gradient of a scalar starts with 1; another one scales all gradients.

    ## Cure
    Leave the argument out.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "{code}"
    name = "{name}"
    level = Level.SMELL
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            loss = (2 * x).sum()
            loss.backward(torch.tensor(5.0))  # smell: [{code}]
            """,
            shows=Holds("x.grad[0] == 10"),  # and not 2
            fixed="""
            import torch

            x = torch.ones(3, requires_grad=True)
            loss = (2 * x).sum()
            loss.backward()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            (2 * x).sum().backward()
            """
        ),
    )

    # The annotation is the subscription: see docs/writing-a-rule.md for the events. Only what is true on every path
    # that comes there is asked about; what is not known is Truth.MAYBE.
    def check(self, event: events.BackwardCalled) -> Iterator[Diagnostic]:
        if event.callee != "backward" or event.gradient_given is not Truth.YES or event.is_scalar is not Truth.YES:
            return
        root = code(event.root_node)
        fix = Fix("leave the gradient out", (Edit(event.node, f"{{root}}.backward()"),), safe=False)
        message = f"`{{root}}` is a scalar, and its backward is given a gradient to start with"
        # What `torchlint check --verify` looks for: here an expression that is true after the statement, and its words.
        claims = (Holds(f"{{root}}.numel() == 1", words=f"`{{root}}` has one element"),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
'''

VISITOR = '''from collections.abc import Iterator

import libcst as cst

from torchlint.rule import Diagnostic, Edit, Example, File, Fix, Level, Rule, Warns


class {cls}(Rule):
    """
    A function of torch is called by its former name.

    ## What it does
    Finds calls of `torch.qr`: the first line above and this section say what is found.

    ## Why is this bad?
    It is deprecated, and warns.

    ## Cure
    Call `torch.linalg.qr`.

    ## References
    - [torch.qr](https://docs.pytorch.org/docs/stable/generated/torch.qr.html)
    """

    code = "{code}"
    name = "{name}"
    level = Level.WARNING
    fixes = "unsafe"
    # What a file must mention for the rule to be asked there: qualified names, or attributes of anything (".symeig").
    needs = ("torch.qr",)
    bad = (
        Example(
            """
            import torch

            q, r = torch.qr(torch.eye(3))  # warning: [{code}]
            """,
            shows=Warns("torch.qr is deprecated"),
            fixed="""
            import torch

            q, r = torch.linalg.qr(torch.eye(3))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            q, r = torch.linalg.qr(torch.eye(3))
            """
        ),
    )

    # The annotation of `node` is the subscription: a class of libcst nodes, or a union. `file` knows what names stand
    # for, through imports and aliases, the text of a node, what holds it, and the configuration.
    def visit(self, node: cst.Call, file: File) -> Iterator[Diagnostic]:
        if "torch.qr" not in file.names(node):
            return
        edit = Edit(node.func, "torch.linalg.qr")
        fix = Fix("call `torch.linalg.qr`", (edit,), safe=False, imports=("import torch",))
        message = f"`{{file.code(node.func)}}` is deprecated"
        # What `torchlint check --verify` looks for: here a warning that is given while the statement runs.
        yield Diagnostic(node, message, fix=fix, claims=(Warns("torch.qr is deprecated"),))
'''

TEST = '''from {module} import {cls}

from torchlint.verify.examples import problems


def test_its_examples():
    """Each is flagged where it says so, torch shows what it says, and the fix gives what is promised."""
    assert problems({cls}) == []
'''


_IMPORTED = frozenset(
    re.findall(r"\b[A-Z]\w+", " ".join(re.findall(r"^from .* import (.*)$", RULE + VISITOR, re.MULTILINE)))
)


@click.command("new-rule")
@click.argument("name", metavar="NAME")
@click.option("--code", default="MINE001", show_default=True, help="Its code: three to eight capitals, three digits.")
@click.option(
    "--directory", type=click.Path(file_okay=False), default=".", show_default=True, help="Where to write it."
)
@click.option("--visitor", is_flag=True, help="A rule on what stands in a file, and not on what happens in a program.")
def command(name: str, code: str, directory: str, visitor: bool) -> None:
    """
    Write a rule of your own, and a test that passes at once.

    NAME is the flagged pattern, such as backward-of-scalar.
    """
    if not _NAME.fullmatch(name):
        raise click.UsageError(
            f"{name!r} is no name of a rule: lower case letters and digits, with hyphens between words"
        )
    if not _CODE.fullmatch(code):
        raise click.UsageError(f"{code!r} is no code: three to eight capitals and three digits, such as MINE001")
    module = name.replace("-", "_")
    cls = "".join(word.capitalize() for word in name.split("-"))
    folder = Path(directory)
    package = _package(folder)
    files = {
        folder / f"{module}.py": (VISITOR if visitor else RULE).format(cls=cls, code=code, name=name),
        folder / f"test_{module}.py": TEST.format(cls=cls, module=f"{package}{module}"),
    }
    for file in files:
        if file.exists():
            raise click.UsageError(f"{file} is there already; nothing was written")
    with explained():
        refused = _name_refused(name, module, cls, package) or _taken(name, code)
    if refused:
        raise click.UsageError(f"{refused}; nothing was written")
    with explained():
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
    rule, test = (str(file) for file in files)
    click.echo(f"Wrote {rule} and {test}.\nTest it:   python -m pytest {test}")
    click.echo(
        f'Use it:    plugins = ["{package}{module}"] under [tool.torchlint], found beside the configuration file;'
    )
    click.echo('           in a package: its entry point, [project.entry-points."torchlint.rules"]')


def _package(folder: Path) -> str:
    """The package that a folder is, as an import begins with it: "rules.own."; "" if it is none."""
    names: list[str] = []
    folder = folder.absolute()
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return "".join(f"{each}." for each in names)


def _name_refused(name: str, module: str, cls: str, package: str) -> str:
    """Why a rule cannot be called so, in words; "" if it can."""
    if not module.isidentifier() or keyword.iskeyword(module):
        return f"{name!r} cannot be the name of a Python module"
    if cls in _IMPORTED:
        return f"the class would be called {cls}, and that is what the file imports from torchlint"
    if not package and (module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None):
        return f"the file would be called {module}.py, and there is a module of that name already, which it would hide"
    return ""


def _taken(name: str, code: str) -> str:
    """Whose the name or the code is, in words; "" if neither is anybody's."""
    from torchlint.hosts.command_line.rules import known_rules

    names = known_rules().names
    if code in names:
        return f"the code {code} is that of `{names[code]}`"
    if code.startswith(OWN):
        return f"codes that begin with {OWN} are torchlint's own; take capitals of yours, such as MINE001"
    owner = next((each for each, known in names.items() if known == name), None)
    return f"{name!r} is the name of {owner}" if owner is not None else ""
