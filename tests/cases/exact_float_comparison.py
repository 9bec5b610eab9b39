# ruff: noqa
"""Programs for TLN603."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def slice_before_and_after():
    """Holds: torch.allclose(one, other, atol=1e-6)"""
    conv = nn.Conv1d(16, 8, 1)
    x = torch.rand(1, 16, 50)
    one = conv(x)[:, :, -5:]  # smell: [TLN701]
    other = conv(x[:, :, -5:])
    same = torch.equal(one, other)  # smell: [TLN603]


def attention_by_hand():
    """Holds: torch.allclose(by_hand, attended, atol=1e-5)"""
    q, k, v = (torch.rand(2, 4, 6, 8) for _ in range(3))
    by_hand = torch.softmax(q @ k.transpose(-2, -1) / 8**0.5, dim=-1) @ v
    attended = torch.matmul(torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * 8**-0.5, -1), v)
    same = by_hand.equal(attended)  # smell: [TLN603]


def variance_in_two_ways():
    """Holds: torch.allclose(a, b)"""
    x = torch.rand(100)
    a = ((x - x.mean()) ** 2).mean()
    b = (x**2).mean() - x.mean() ** 2
    same = bool((a == b).all())  # smell: [TLN603]


def softmax_in_two_ways():
    """Holds: torch.allclose(torch.log(p), logp, atol=1e-5)"""
    x = torch.rand(3, 5)
    p = torch.exp(x) / torch.exp(x).sum(1, keepdim=True)
    logp = F.log_softmax(x, 1)
    same = torch.equal(p, torch.exp(logp))  # smell: [TLN603]


def copied_model():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    twin = copy.deepcopy(model)
    x = torch.rand(2, 3)
    assert torch.equal(model(x), model(x))
    for p, q in zip(model.parameters(), twin.parameters()):
        assert torch.equal(p, q)


def integers_and_booleans():
    i = torch.arange(6)
    assert torch.equal(i * 2, i + i)
    assert (i.sum() == 15).all()
    x = torch.rand(3)
    assert torch.equal(x > 0, x.abs() > 0)


def moved_not_computed():
    x = torch.rand(3, 4)
    assert torch.equal(x.t().t(), x)
    assert torch.equal(torch.cat([x[:1], x[1:]]), x)
    assert torch.equal(x.clone().view(-1), x.reshape(-1))
    assert torch.equal(F.relu(x), x.clamp(min=0))


def with_a_tolerance():
    x = torch.rand(100)
    assert torch.allclose(x.mean(), x.sum() / 100)
    torch.testing.assert_close(x.mean(), x.sum() / 100)


def expected_values():
    x = torch.ones(4)
    assert torch.equal(x * 2, torch.full((4,), 2.0))
    mask = (x == 0).all()


def arguments_of_nobody_knows_what():
    def same(a, b):
        return torch.equal(a, b) or (a == b).all()

    same(torch.ones(2), torch.ones(2))


def until_nothing_changes():
    scores = torch.rand(4, 4).softmax(1)
    for _ in range(5):
        before = scores.clone()
        scores = torch.minimum(scores, scores.roll(1, 0))
        if torch.equal(scores, before):
            break


def whole_numbers_are_not_rounded():
    """Holds: torch.equal(signs([[1, 1], [1, -1]]), torch.tensor([[1.0, 1.0], [1.0, -1.0]]))"""

    def signs(values):
        matrix = torch.tensor(values, dtype=torch.float64)
        gram = matrix @ matrix.T
        if not torch.equal(gram, 2 * torch.eye(2, dtype=torch.float64)):  # strict: [TLN603]
            raise ValueError
        return matrix.float()


def fractions_are():
    """Holds: same is False"""

    m = torch.full((1,), 0.1, dtype=torch.float64)
    same = torch.equal(m * 3.0, torch.full((1,), 0.3, dtype=torch.float64) + 0.0)  # smell: [TLN603]
