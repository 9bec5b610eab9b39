"""Training that goes wrong in silence: each symptom confirmed where it is, and refuted where it is not."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.rule import Holds, Observed, Verdict

Verdicts = Callable[..., list[Verdict]]


def only(found: list[Verdict], status: str = "confirmed") -> str:
    """The evidence of the one verdict, which has this status."""
    (verdict,) = found
    assert verdict.status == status, verdict.evidence
    return verdict.evidence


RUNNING_LOSS = """
    import torch
    net = torch.nn.Linear(2, 1)
    total = 0.0
    for x in torch.ones(3, 4, 2):
        loss = net(x).mean()
        loss.backward()
        total += {loss}  # warning: [TLN106]
"""
KEEPS = {"TLN106": (Observed("graph-kept", "total"),)}


def test_a_sum_keeps_its_graph(verdicts: Verdicts) -> None:
    evidence = only(verdicts(RUNNING_LOSS.format(loss="loss"), claims=KEEPS))
    assert evidence == "after 3 rounds `total` has a graph: its grad_fn is AddBackward0"
    assert "no graph" in only(verdicts(RUNNING_LOSS.format(loss="loss.detach()"), claims=KEEPS), "refuted")


def test_a_sum_of_numbers_does_not_tell(verdicts: Verdicts) -> None:
    only(verdicts(RUNNING_LOSS.format(loss="loss.item()"), claims=KEEPS), "inconclusive")


def test_a_list_keeps_graphs(verdicts: Verdicts) -> None:
    program = """
        import torch
        w = torch.ones(2, requires_grad=True)
        losses = []
        for _ in range(2):
            loss = (w**2).sum()
            losses.append(loss)  # warning: [TLN106]
            loss.backward()
    """
    assert "`losses[-1]` has a graph" in only(verdicts(program, claims={"TLN106": (Observed("graph-kept", "losses"),)}))


def test_the_gradient_of_a_non_leaf_is_none(verdicts: Verdicts) -> None:
    program = """
        import torch
        x = torch.ones(2, requires_grad=True)
        h = x * 2
        {retained}
        h.sum().backward()
        print(h.grad)  # warning: [TLN109]
    """
    claims = {"TLN109": (Observed("gradient-none", "h"),)}
    evidence = only(verdicts(program.format(retained="pass"), claims=claims))
    assert evidence == "`h` is the result of MulBackward0 (is_leaf False); `h.grad` is None"
    only(verdicts(program.format(retained="h.retain_grad()"), claims=claims), "refuted")


def test_a_leaf_is_lost(verdicts: Verdicts) -> None:
    program = """
        import torch
        w = torch.ones(2{flag}) * 0.1  # warning: [TLN306]
        w.requires_grad_()
        w.sum().backward()
    """
    evidence = only(verdicts(program.format(flag=", requires_grad=True")))
    assert evidence == "`w` is the result of MulBackward0 (is_leaf False): it gets no gradient"
    assert only(verdicts(program.format(flag="")), "refuted") == "`w` is a leaf"


def test_a_flag_has_no_effect(verdicts: Verdicts) -> None:
    tensor = """
        import torch
        w = torch.ones(2, requires_grad=True)
        w.{flag} = False  # warning: [TLN310]
    """
    claims = {"TLN310": (Holds("w.requires_grad"),)}
    evidence = only(verdicts(tensor.format(flag="require_grad"), claims=claims))
    assert evidence == "`w.requires_grad` is true after line 3"
    evidence = only(verdicts(tensor.format(flag="requires_grad"), claims=claims), "refuted")
    assert evidence == "`w.requires_grad` is false after line 3"
    claims = {"TLN310": (Holds("w.requires_grad", words="`w` still requires grad"),)}
    assert only(verdicts(tensor.format(flag="require_grad"), claims=claims)) == "`w` still requires grad"
    evidence = only(verdicts(tensor.format(flag="requires_grad"), claims=claims), "refuted")
    assert evidence == "it is not so that `w` still requires grad, after line 3"
    module = """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(2, 1))
        {frozen}
        net[0].requires_grad = False  # warning: [TLN310]
    """
    claims = {"TLN310": (Holds("any(p.requires_grad for p in net[0].parameters())"),)}
    only(verdicts(module.format(frozen="pass"), claims=claims))
    only(verdicts(module.format(frozen="net.requires_grad_(False)"), claims=claims), "refuted")


def test_gradients_add_up(verdicts: Verdicts) -> None:
    program = """
        import torch
        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.0)
        for _ in range(2):
            {zeroed}
            (3 * w).sum().backward()
            optimizer.step()  # warning: [TLN402]
    """
    evidence = only(verdicts(program.format(zeroed="pass")))
    assert evidence == "the backward in line 6 found `w.grad` [3], which a step had used, and made it [6]"
    evidence = only(verdicts(program.format(zeroed="optimizer.zero_grad()")), "refuted")
    assert evidence == "no gradient of one of 2 steps was left for the next"


def test_one_backward_does_not_tell_whether_gradients_add_up(verdicts: Verdicts) -> None:
    program = """
        import torch
        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(1):
            (3 * w).sum().backward()
            optimizer.step()  # warning: [TLN402]
    """
    only(verdicts(program), "inconclusive")


def test_an_argument_is_written(verdicts: Verdicts) -> None:
    program = """
        import torch
        def shift(x):
            {write}  # warning: [TLN213]
            return x
        shift(torch.ones(2))
    """
    evidence = only(verdicts(program.format(write="x.add_(1)")))
    assert evidence == "`x` was written in place, its version went 0 → 1: it was [1, 1], is [2, 2]"
    only(verdicts(program.format(write="x = x.add(1)")), "inconclusive")


FUNCTION = """
    import torch

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = torch.sin(x)
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx, grad):
            x, result = ctx.saved_tensors
            return {formula}  # smell: [TLN505]

    x = torch.tensor(0.5, requires_grad=True)
    Sine.apply(x).backward()
"""


def test_a_formula_that_is_wrong_somewhere(verdicts: Verdicts) -> None:
    claims = {"TLN505": (Observed("derivative-wrong"),)}
    wrong = "grad * torch.sqrt(1 - result * result) * torch.where(x < 0, -1, 1)"
    evidence = only(verdicts(FUNCTION.format(formula=wrong), claims=claims))
    assert "at (-0.5) its backward is wrong, at (0.5) it is right" in evidence
    only(verdicts(FUNCTION.format(formula="grad * torch.cos(x)"), claims=claims), "inconclusive")
    straight = only(verdicts(FUNCTION.format(formula="-grad"), claims=claims), "inconclusive")
    assert "nowhere: that may be meant so" in straight


def test_a_value_that_is_waited_for_in_every_round(verdicts: Verdicts) -> None:
    program = """
        import torch
        for _ in range({rounds}):
            total = torch.ones(3).sum().item()  # strict: [TLN707]
    """
    claims = {"TLN707": (Observed("waits-for-values"),)}
    assert only(verdicts(program.format(rounds=2), claims=claims)) == "`item` was called in each of 2 rounds"
    only(verdicts(program.format(rounds=1), claims=claims), "inconclusive")
