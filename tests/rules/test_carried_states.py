"""A state carried over iterations is detached as what it is: the program runs when the fix is made."""

from __future__ import annotations

import pytest

from tests.expectations import fixed
from torchlint.verify.execute import run_program

_PROGRAM = """\
import torch
from torch import nn

def call(loss):
    loss.backward()

net = {net}
optimizer = torch.optim.SGD(net.parameters(), 0.1)
{start}
for _ in range(3):
    {step}
    optimizer.zero_grad()
    {backward}
"""
_ROW = "(torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))"


@pytest.mark.parametrize(
    ("net", "start", "step", "detached"),
    [
        ("nn.GRU(3, 4)", "h = None", "out, h = net(torch.randn(5, 2, 3), h)", "h = h.detach()"),
        (
            "nn.LSTM(3, 4)",
            f"h = {_ROW}",
            "out, h = net(torch.randn(5, 2, 3), h)",
            "h = tuple(each.detach() for each in h)",
        ),
        (
            "nn.LSTM(3, 4)",
            f"h, c = {_ROW}",
            "out, (h, c) = net(torch.randn(5, 2, 3), (h, c))",
            "h, c = h.detach(), c.detach()",
        ),
        (
            "nn.LSTMCell(3, 4)",
            "out, c = torch.zeros(2, 4), torch.zeros(2, 4)",
            "out, c = net(torch.randn(2, 3), (out, c))",
            "out, c = out.detach(), c.detach()",
        ),
        (
            "nn.GRUCell(3, 4)",
            "hs = [torch.zeros(2, 4)]",
            "hs = [net(torch.randn(2, 3), each) for each in hs]; out = hs[0]",
            "hs = [each.detach() for each in hs]",
        ),
    ],
)
def test_a_state_is_detached_as_what_it_is(net: str, start: str, step: str, detached: str) -> None:
    program = _PROGRAM.format(net=net, start=start, step=step, backward="out.sum().backward()")
    result = fixed(program, "TLN101").text
    assert f"    out.sum().backward()\n    {detached}\n" in result
    assert run_program(result).raised is None


@pytest.mark.parametrize(
    ("start", "step", "backward"),
    [
        # set after the backward, and no tensor before the loop
        ("h = None", "loss = 0 if h is None else h[0].sum()", "call(net.weight_hh_l0.sum()) if h is None else None"),
        # the statement of the backward stands in another function
        ("h = None", "out, h = net(torch.randn(5, 2, 3), h)", "call(out.sum())"),
    ],
)
def test_what_cannot_be_detached_there_gets_no_fix(start: str, step: str, backward: str) -> None:
    program = _PROGRAM.format(net="nn.LSTM(3, 4)", start=start, step=step, backward=backward)
    assert fixed(program, "TLN101").text == program
