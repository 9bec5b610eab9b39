"""`--fix --verify`: a fix is applied only where the program before and after it agree; else the code stays."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from torchlint.hosts.command_line import main

OVERWRITTEN = """\
    import torch
    x = torch.ones(3, requires_grad=True)
    y = torch.sigmoid(x)
    y += 1
    y.sum().backward()
    print(x.grad)
    """


def fixed(text: str, folder: Path, *options: str) -> tuple[str, Result]:
    """The file after `--fix --unsafe-fixes --verify`, and what the command said."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    command = ["check", "--no-cache", "--isolated", "--fix", "--unsafe-fixes", "--verify", *options, str(file)]
    result = CliRunner().invoke(main, command)
    return file.read_text(), result


def test_a_fix_that_gives_what_a_copy_would_have_given(tmp_path: Path) -> None:
    text, result = fixed(OVERWRITTEN, tmp_path)
    assert "y = y + 1" in text
    assert "not applied" not in result.output


def test_an_alias_that_would_lose_the_write(tmp_path: Path) -> None:
    program = OVERWRITTEN.replace("y += 1\n", "kept = y\n    y += 1\n").replace("y.sum()", "(y.sum() + 5 * kept.sum())")
    text, result = fixed(program, tmp_path)
    assert text == textwrap.dedent(program)
    assert (
        "the fix of TLN201 was not applied: held against the program with what was saved kept as a copy"
        in result.output
    )


def test_a_program_that_would_print_something_else(tmp_path: Path) -> None:
    program = """\
        import torch
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            print(net.bias.item())
        """
    text, result = fixed(program, tmp_path)
    assert text == textwrap.dedent(program)
    assert "the fix of TLN402 was not applied: it prints" in result.output


def test_a_place_that_is_not_reached(tmp_path: Path) -> None:
    body = textwrap.indent(textwrap.dedent(OVERWRITTEN).partition("\n")[2], "    ")
    program = f"import torch\ndef never():\n{body}"
    text, result = fixed(program, tmp_path)
    assert text == program
    assert "line 5 was not reached when the file was run as a script, which does not come to" in result.output
    assert ":5 --with" in result.output


def test_a_value_at_the_end_that_would_be_another(tmp_path: Path) -> None:
    program = """\
        import torch
        c = torch.ones(2, requires_grad=True) * 2
        kept = c.detach()
        c.mul_(3)
        size = kept.sum()
        """
    text, result = fixed(program, tmp_path)
    assert text == textwrap.dedent(program)
    assert "the fix of TLN206 was not applied: `kept` is [2, 2] at the end, and not [6, 6]" in result.output


@pytest.mark.parametrize("raises", ["with torch.no_grad:\n    y = x * 2", "y = (x * 2).numpy()"])
def test_a_fix_of_what_raises_keeps_what_was_printed(tmp_path: Path, raises: str) -> None:
    text, _ = fixed(f"import torch\nx = torch.ones(3, requires_grad=True)\nprint(x)\n{raises}\n", tmp_path)
    assert raises not in text


def test_an_error_that_the_program_has_without_the_fix_too_is_not_blamed_on_it(tmp_path: Path) -> None:
    program = """\
        import torch
        net = torch.nn.Linear(2, 1)
        net(torch.ones(1, 2)).sum().backward()
        torch.nn.utils.clip_grad_norm(net.parameters(), 1.0)
        open("/nowhere/at/all")
        """
    text, result = fixed(program, tmp_path)
    assert text == textwrap.dedent(program)
    assert "the fix of TLN902 was not applied: the program raises FileNotFoundError in line 5" in result.output
    assert "with it and without" in result.output
    assert "1 fix not applied." in result.output
    assert "fixable with --fix" not in result.output


def test_a_fix_in_a_function_in_which_the_program_ends_before(tmp_path: Path) -> None:
    program = """\
        import sys
        import torch
        def main():
            net = torch.nn.Linear(2, 1)
            if not sys.argv[1:]:
                raise ValueError("no data")
            torch.nn.utils.clip_grad_norm(net.parameters(), 1.0)
        main()
        """
    text, result = fixed(program, tmp_path)
    assert text == textwrap.dedent(program)
    assert "line 7 was not reached when the file was run as a script, which does not come to it: " in result.output
    assert "does not come to `main`" not in result.output
    cured = program.replace('raise ValueError("no data")', "return")
    assert "which takes another way in `main`" in fixed(cured, tmp_path)[1].output
