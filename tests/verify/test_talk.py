"""The talk's cases (TALK: T1 to T14) as own programs: torch confirms each, in its own words."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.rule import Observed, Raises, Verdict

Verdicts = Callable[..., list[Verdict]]


def only(found: list[Verdict], status: str = "confirmed") -> str:
    """The evidence of the one verdict, which has this status."""
    (verdict,) = found
    assert verdict.status == status, verdict.evidence
    return verdict.evidence


def test_t1_second_backward(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            u = torch.tensor(1.5, requires_grad=True)
            w = torch.tensor(4.0, requires_grad=True)
            area = u * (u + w)
            area.backward()  # note: freed here
            print(u.grad, w.grad)
            area.backward()  # error: [TLN101]
            """
        )
    )
    assert "RuntimeError in line 7: Trying to backward through the graph a second time" in evidence


def test_t3_manual_zeroing(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            u = torch.tensor(1.5, requires_grad=True)
            (u * u).backward()
            u.grad.zero_()  # smell: [TLN401]
            (u * u * u).backward()
            """
        )
    )
    assert "`u.grad` was 3, is 0" in evidence
    assert "with `u.grad = None` instead the same gradients" in evidence


def test_t3_zeroing_a_gradient_that_is_none(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            u = torch.tensor(1.5, requires_grad=True)
            u.grad.zero_()  # error: [TLN401]
            """,
            claims={"TLN401": (Raises("'NoneType' object has no attribute"),)},
        )
    )
    assert "AttributeError in line 3: 'NoneType' object has no attribute 'zero_'" in evidence


def test_t3_loop_over_parameters(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            net = torch.nn.Linear(2, 1)
            for _ in range(2):
                net(torch.ones(3, 2)).sum().backward()
                for p in net.parameters():
                    if p.grad is not None:
                        p.grad.zero_()  # smell: [TLN401]
            """
        )
    )
    assert "`p.grad` was [3, 3], is [0, 0]" in evidence


PARAMETER = """
    import torch
    from torch import nn

    class Scale(nn.Module):
        def __init__(self, n: int):
            super().__init__()
            self.factor = nn.Parameter(torch.rand(n)) ** 2  # error: [TLN301]

        def forward(self, x):
            return self.factor * x
    """


def test_t4_non_leaf_parameter_in_a_script(verdicts: Verdicts) -> None:
    script = """
    if __name__ == "__main__":
        scale = Scale(4)
        for _ in range(2):
            scale.zero_grad()
            scale(torch.rand(4)).sum().backward()  # note: differentiated twice
    """
    evidence = only(verdicts(PARAMETER + script))
    assert "`self.factor` is no Parameter but the result of PowBackward0 (is_leaf False)" in evidence
    assert "`named_parameters()` of `Scale` has 0" in evidence
    assert "Trying to backward through the graph a second time" in evidence


def test_t4_non_leaf_parameter_in_a_module_nobody_calls(verdicts: Verdicts) -> None:
    evidence = only(verdicts(PARAMETER))
    assert "`named_parameters()` of `Scale` has 0" in evidence
    assert "`Scale(n=8)` called with `x` of shape (8,)" in evidence
    assert "Trying to backward through the graph a second time" in evidence


def test_t5_vector_without_gradient(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            def f(x):
                return x.exp()
            x = torch.rand(3, requires_grad=True)
            f(x).backward()  # error: [TLN103]
            """
        )
    )
    assert "RuntimeError in line 5: grad can be implicitly created only for scalar outputs" in evidence


def test_t7_needless_retain_graph(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            x = torch.rand(3, requires_grad=True)
            y = (x ** 2).sum()
            y.backward(retain_graph=True)  # smell: [TLN102]
            """,
            fixes={"TLN102": ("retain_graph=True", "", True)},
        )
    )
    assert "runs without it, same gradients" in evidence


def test_t8_two_losses_share_a_graph(verdicts: Verdicts) -> None:
    evidence = only(
        verdicts(
            """
            import torch
            x = torch.rand(3, requires_grad=True)
            c = 2.0 * x ** 2
            low, high = c.mean(), c.sum()
            low.backward(retain_graph=True)  # smell: [TLN102]
            high.backward()  # note: reads the same graph
            """
        )
    )
    assert "needed as written" in evidence
    assert "in line 6: Trying to backward through the graph a second time" in evidence
    assert "one backward on the sum, in line 6, gives the same gradients" in evidence


SHARED = """
    import torch
    p = torch.tensor(2.0, requires_grad=True)
    q = torch.tensor(3.0, requires_grad=True)
    c = 2 * p
    """


def test_t10_two_losses_share_a_node(verdicts: Verdicts) -> None:
    script = """
    b = c * q
    a = c ** 2
    a.backward()  # note: frees `c`'s node
    b.backward()  # error: [TLN101]
    """
    assert "second time" in only(verdicts(SHARED + script))


ALIAS = {"TLN206": (Observed("alias-written", "c", "kept"),)}


def test_t11_detach_without_clone(verdicts: Verdicts) -> None:
    script = """
    kept = c.detach()  # note: shares memory
    print(kept)
    c.mul_(2)  # warning: [TLN206]
    print(kept)
    """
    evidence = only(verdicts(SHARED + script, claims=ALIAS))
    assert "`kept` shares memory with `c`: it was 4, is 8" in evidence


def test_t11_with_a_clone_it_is_refuted(verdicts: Verdicts) -> None:
    script = """
    kept = c.detach().clone()  # note: shares memory
    c.mul_(2)  # warning: [TLN206]
    print(kept)
    """
    only(verdicts(SHARED + script, claims=ALIAS), "refuted")


def test_t12_in_place_before_anything_was_saved(verdicts: Verdicts) -> None:
    script = """
    c.mul_(1.0)  # strict: [TLN204]
    b = c * q
    b.backward()
    """
    evidence = only(verdicts(SHARED + script))
    assert "recorded by MulBackward0" in evidence
    assert "version went 0 → 1" in evidence


def test_t13_in_place_after_a_product_saved_it(verdicts: Verdicts) -> None:
    for write in ("c.mul_(1.0)", "c *= 1.0"):
        script = f"""
    c_alias = c.detach()
    b = c_alias * q  # note: `*` saves it
    {write}  # error: [TLN201]
    a = c ** 2
    a.backward()
    b.backward()  # note: reads it
    """
        evidence = only(verdicts(SHARED + script, fixes={"TLN201": (write, "c = c * 1.0", False)}))
        assert "RuntimeError in line 11: one of the variables needed for gradient computation" in evidence
        assert "with the fix (write `c = c * 1.0`) it runs" in evidence


FILL = """
    import torch
    from torch import nn

    class Fill(nn.Module):
        def forward(self, x):
            y = torch.empty(3)
            y[:2] = x
            y[2] = x[0] * y[0]  # error: [TLN201]
            return y[0]  # note: differentiated by the caller
    """


def test_t14_indexed_assignment_in_a_script(verdicts: Verdicts) -> None:
    script = """
    x = torch.rand(2, requires_grad=True)
    out = Fill()(x)
    out.backward()  # note: reads it
    """
    assert "RuntimeError in line 13" in only(verdicts(FILL + script))


def test_t14_indexed_assignment_in_a_module_nobody_calls(verdicts: Verdicts) -> None:
    evidence = only(verdicts(FILL))
    assert "RuntimeError in its backward: one of the variables needed for gradient computation" in evidence
    assert "`x` of shape (2,) that requires grad" in evidence
