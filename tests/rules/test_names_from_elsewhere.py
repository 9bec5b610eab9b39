"""What a star import brings is called like a function, whoever it is from."""

from __future__ import annotations

from expectations import lint


def test_a_function_of_a_module_that_came_with_a_star_is_no_method() -> None:
    text = (
        "from .imports import *\n\n"
        "def loss(inp, targ):\n"
        "    inp = inp.flatten()\n"
        "    torch.clamp_min_(inp, 0.1)\n"
        "    return (targ * torch.exp(torch.log(inp))).mean()\n"
    )
    assert [each.code for each in lint(text).findings] == []
