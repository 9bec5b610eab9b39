# ruff: noqa
"""Programs for TLN605."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def policy_gradient():
    """Holds: logp.isinf().any()"""
    logits = torch.tensor([[0.0, 300.0]], requires_grad=True)
    probs = F.softmax(logits, dim=-1)
    logp = torch.log(probs)  # strict: [TLN605]


def discriminator_loss():
    """Holds: loss.isinf()"""
    d = torch.tensor([-200.0], requires_grad=True)
    loss = -torch.log(torch.sigmoid(d)).mean()  # smell: [TLN605]


def entropy_of_attention():
    """Holds: entropy.isnan().any()"""

    class Entropy(nn.Module):
        def forward(self, scores):
            p = scores.softmax(-1)
            return -(p * p.log()).sum(-1)  # strict: [TLN605]

    entropy = Entropy()(torch.tensor([[0.0, 300.0]]))


def softplus_by_hand():
    """Holds: variance.isinf().any()"""
    raw = torch.tensor([1.0, 200.0])
    variance = torch.log(1 + torch.exp(raw))  # strict: [TLN605]


def small_return():
    """Holds: log_return[0] == 0"""
    r = torch.tensor([1e-9, 0.1])
    log_return = torch.log(1.0 + r)  # strict: [TLN605]


def partition_function():
    """Holds: z.isinf().all()"""

    def log_partition(energy):
        return torch.log(torch.sum(torch.exp(energy), dim=1, keepdim=True))  # strict: [TLN605]

    z = log_partition(torch.full((2, 3), 100.0))


def log_add():
    """Holds: both.isinf()"""
    a, b = torch.tensor(100.0), torch.tensor(99.0)
    both = torch.log(torch.exp(a) + torch.exp(b))  # strict: [TLN605]


def elu_by_hand():
    """Holds: y[0] == 0"""
    x = torch.tensor([-1e-9, 1.0])
    y = torch.where(x > 0, x, x.exp() - 1)  # strict: [TLN605]


def stable_functions():
    x = torch.rand(2, 3)
    y1 = F.log_softmax(x, dim=1)
    y2 = F.logsigmoid(x)
    y3 = torch.log1p(x)
    y4 = torch.logsumexp(x, 1)
    y5 = torch.expm1(x)


def guarded_by_hand():
    x = torch.rand(2, 3)
    y6 = torch.log(F.softmax(x, dim=1) + 1e-9)
    y7 = torch.log(torch.sigmoid(x).clamp(min=1e-6))
    p = F.softmax(x, dim=1)
    p = p.clamp_min(1e-8)
    y8 = p.log()
    q = torch.softmax(x, 1)
    q += 1e-8
    y9 = q.log()


def maximum_taken_out():
    x = torch.rand(2, 3)
    m = x.max(dim=1, keepdim=True).values
    z = m + torch.log(torch.sum(torch.exp(x - m), dim=1, keepdim=True))


def other_logarithms():
    import math

    x = torch.rand(3)
    y10 = torch.log(2 + x)
    y11 = torch.log(1 - x / 2)
    y12 = torch.log(x)
    y13 = torch.exp(x) - 2
    y14 = torch.exp(x) + 1
    math.log(1 + 3)
    math.exp(0.5) - 1


def kl_of_a_vae():
    mu, logvar = torch.rand(3), torch.rand(3)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def logarithm_of_a_count():
    two_n_plus_one = 2.0 * torch.arange(5) + 1.0
    sign = two_n_plus_one * 3
    log_terms = two_n_plus_one.log()


def whole_numbers():
    """Counts and positions have no digits to lose."""

    def distances(n):
        return (torch.arange(n) + 1).log()

    def temperature(position, scale):
        return torch.log(torch.floor((position.float() + 1.0) / scale) + 1.0)

    def of_durations(labels):
        return torch.log(labels.float() + 1.0)

    distances(3)
    temperature(torch.arange(3), 2.0)
    of_durations(torch.tensor([1, 4]))
    torch.log(1 + torch.randint(5, (3,)))


def offset_that_may_be_another_one():
    class Shifted(nn.Module):
        def __init__(self, offset=1.0):
            super().__init__()
            self.offset = offset

        def forward(self, x):
            return torch.log(x.float() + self.offset), torch.exp(x.float()) - self.offset

    Shifted(2.0)(torch.ones(2))


def of_unknown_numbers():
    def relevance(counts):
        return torch.log(1 + counts)

    relevance(torch.randint(9, (3,)))


def softplus_that_cannot_overflow():
    x = torch.linspace(-100, 100, 5)
    stable = x.clamp(min=0) + torch.log(1 + torch.exp(-x.abs()))
    assert stable.isfinite().all()


def maximum_subtracted_from_both():
    a, b = torch.tensor([1000.0]), torch.tensor([999.0])
    most = torch.maximum(a, b)
    total = most + torch.log(torch.exp(a - most) + torch.exp(b - most))
    assert total.isfinite().all()


def overflow_is_replaced_afterwards():
    def density(x, zeta):
        safe = torch.log(1 + torch.exp(x))
        safe = torch.where(safe == float("inf"), x, safe)
        total = torch.log(torch.exp(zeta).sum(-1))
        return safe, total.masked_fill(torch.isinf(total), 100.0)

    for each in density(torch.tensor([1000.0]), torch.tensor([1000.0])):
        assert each.isfinite().all()


def overflow_of_another_result_is_replaced():
    """Holds: total.isinf().all()"""
    x = torch.tensor([1000.0, 999.0])
    other = x.exp()
    other = other.masked_fill(other.isinf(), 0.0)
    total = torch.log(torch.exp(x).sum(-1))  # strict: [TLN605]


def maximum_subtracted_before_the_mask():
    scores, mask = torch.randn(3, 4) * 200, torch.ones(3, 4, dtype=torch.bool)
    top = scores.max(1, keepdim=True).values
    shifted = torch.where(mask, scores - top, torch.tensor(-1e9))
    total = shifted.unsqueeze(-1).exp().sum(1).log()
    other = (scores - top).masked_fill(~mask, -1e9).exp().sum(1).log()
    assert total.isfinite().all() and other.isfinite().all()


def a_stable_loss_by_hand():
    class StableBCELoss(nn.Module):
        def forward(self, logits, target):
            negative = -logits.abs()
            return (logits.clamp(min=0) - logits * target + (1 + negative.exp()).log()).mean()

    StableBCELoss()(torch.rand(3), torch.rand(3))


def exponents_with_a_bound():
    def of(scores, largest):
        yield torch.log(1 + torch.exp(torch.clamp(scores, max=largest)))
        yield torch.log(1 + scores.clamp(-10, 10).exp())
        yield torch.log(1 + torch.exp(scores.clamp_max(3)))
        yield torch.log(torch.exp(torch.tanh(scores)).sum(1))
        yield torch.log(torch.exp(torch.minimum(scores, torch.tensor(3.0))).sum(1))
        yield torch.log(1 + torch.exp(-torch.relu(scores)).sum(1))
        yield torch.log(torch.exp(scores.cos()) + torch.exp(scores.sin()))
        bounded = torch.clamp(scores, -20, 20)
        yield torch.log(1 + torch.exp(bounded))

    assert all(each.isfinite().all() for each in of(torch.tensor([[-1e4, 1e4]]), 20.0))


def a_lower_bound_is_none():
    """Holds: not value.isfinite().all()"""
    scores = torch.tensor([[-1e4, 1e4]])
    value = torch.log(1 + torch.exp(torch.clamp(scores, min=-20)))  # strict: [TLN605]


def a_bounded_value_scaled():
    """Holds: not value.isfinite().all()"""
    scores = torch.tensor([[-1e4, 1e4]])
    value = torch.log(1 + torch.exp(torch.tanh(scores) * 200))  # strict: [TLN605]


def exponents_that_are_never_positive():
    class Modes(nn.Module):
        def __init__(self, loc, scale):
            super().__init__()
            self.loc, self.scale = loc, scale

        def forward(self, z, mask):
            a = torch.abs(z[:, 0])
            eps = torch.abs(torch.tensor(self.loc))
            yield torch.log(1 + torch.exp(-2 * (a * eps) / (3 * self.scale) ** 2))
            yield torch.log(1 + torch.exp(-4 * a / 0.09))
            yield torch.log(1 + torch.exp(-(z**2)))
            yield torch.log(1 + torch.exp(-z.pow(2) / self.scale**2))
            yield torch.log(1 + torch.exp(F.logsigmoid(z) * 3))
            yield torch.log(1 + torch.exp(-F.softplus(z)))
            yield torch.log(1 + torch.exp(z - z.max()))
            yield torch.log(1 + torch.exp(z - z.max(dim=1, keepdim=True).values))
            yield torch.log(1 + torch.exp(z - z.max(1, keepdim=True)[0]))
            yield torch.log(1 + torch.exp(-torch.cdist(z, z)))
            yield torch.log(1 + torch.exp(-F.relu(z).sum(1)))
            yield torch.log(1 + torch.exp(torch.min(z, torch.zeros_like(z))))
            yield torch.log(1 + torch.exp(z.clamp(max=5.0) * 2 + 1))
            yield torch.log(1 + torch.exp(10 * torch.cos(z)))
            yield torch.log(1 + torch.exp(torch.where(mask, -z.abs(), torch.zeros_like(z))))
            similar = F.cosine_similarity(z[:, None], z[None], dim=-1)
            yield torch.log(torch.exp(similar / 0.1).sum(1))

    z = torch.tensor([[-1e3, 1e3], [5.0, -3.0]])
    assert all(each.isfinite().all() for each in Modes(2.0, 0.5)(z, z > 0))


def exponents_that_may_be_positive():
    """Holds: not any(each.isfinite().all() for each in results)"""

    def of(z, w):
        a = torch.abs(z)
        yield torch.log(1 + torch.exp(-z))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(-z * a))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(z**2))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(-(z**3)))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(a * a))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(z.clamp(max=50.0) * 3))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(z - w))  # strict: [TLN605]
        yield torch.log(1 + torch.exp(torch.max(z, torch.zeros_like(z))))  # strict: [TLN605]

    results = list(of(torch.tensor([-1e3, 1e3]), torch.tensor([0.0, 0.0])))


def weights_of_distances():
    """Holds: entropy.isnan()"""

    def of(points, beta):
        distances = points.square()
        weights = torch.exp(-distances * beta)
        total = torch.sum(weights)
        return torch.log(total) + beta * torch.sum(distances * weights) / total  # strict: [TLN605]

    entropy = of(torch.tensor([50.0, 60.0]), 1.0)


def density_of_a_mixture():
    """Holds: log_prob.isinf().all() and near.isinf().all()"""

    def of(x, means, scale):
        return torch.log(torch.exp(-0.5 * ((x[:, None] - means) / scale) ** 2).sum(1))  # strict: [TLN605]

    def nearest(x, means):
        return torch.log(torch.exp(-(x[:, None] - means).abs()).sum(1))  # strict: [TLN605]

    def normalised(x, means, scale):
        squares = ((x[:, None] - means) / scale).pow(2)
        return torch.log(torch.exp(-0.5 * (squares + 1.837877)).sum(1))  # strict: [TLN605]

    log_prob = of(torch.tensor([60.0]), torch.tensor([0.0, 1.0]), 1.0)
    near = nearest(torch.tensor([600.0]), torch.tensor([0.0, 1.0]))


def scale_that_is_divided_by():
    """Holds: log_det.isinf().all() and z.isinf().all()"""

    def coupling(shift, x):
        scale = torch.sigmoid(shift)
        return x / scale.to(x.dtype), -torch.log(scale).sum(1)  # strict: [TLN605]

    z, log_det = coupling(torch.full((2, 3), -120.0), torch.ones(2, 3))


def scale_that_is_multiplied_by():
    """Holds: log_det.isinf().all() and z.isfinite().all()"""

    def coupling(shift, x):
        scale = torch.sigmoid(shift)
        return x * scale, torch.log(scale).sum(1)  # smell: [TLN605]

    z, log_det = coupling(torch.full((2, 3), -120.0), torch.ones(2, 3))


def logarithm_without_a_graph():
    """Holds: scores.isinf().any()"""
    with torch.no_grad():
        scores = torch.tensor([0.0, 300.0]).softmax(-1).log()  # strict: [TLN605]


def both_sides_of_an_entropy():
    """Holds: entropy.isnan().any()"""
    logit = torch.tensor([0.0, 20.0])
    p = torch.sigmoid(logit)
    entropy = p * torch.log(p)
    entropy = entropy + (1.0 - p) * torch.log1p(-p)  # smell: [TLN605]


def chance_of_the_other_class():
    """Holds: loss.isinf().any()"""
    logit = torch.tensor([0.0, 20.0])
    loss = -torch.log(1 - logit.sigmoid())  # smell: [TLN605]


def gate_taken_twice():
    """Holds: torch.log(gate).isinf().any()"""
    gate = torch.sigmoid(torch.tensor([0.0, -200.0]))
    previous = torch.zeros(2)
    kept = torch.max(torch.log(gate) + previous, previous - 300)  # smell: [TLN605]
    share = torch.exp(torch.log(gate) + previous - kept)


def logits_that_have_bounds():
    logit = torch.tensor([0.0, -200.0, 200.0]).clamp(-10, 10)
    p = torch.sigmoid(logit)
    entropy = p * torch.log(p) + (1 - p) * torch.log1p(-p)
    logp = torch.log(torch.softmax(logit, dim=0))
    squashed = torch.log(torch.softmax(10 * torch.tanh(logit), dim=0))
    assert entropy.isfinite().all() and logp.isfinite().all() and squashed.isfinite().all()


def one_minus_what_is_no_sigmoid():
    x = torch.rand(3) * 0.5
    assert torch.log(1 - x).isfinite().all() and torch.log1p(-x).isfinite().all()


def no_chance_at_all():
    """Holds: surviving.isinf().any()"""

    def surviving_of(hazard):
        return (-torch.sigmoid(hazard)).log1p().sum()  # smell: [TLN605]

    surviving = surviving_of(torch.tensor([0.0, 30.0]))


def a_reference_to_compare_with():
    def loss_reference(logits, target):
        return -(target * torch.log(torch.sigmoid(logits))).mean()

    x = torch.tensor([1.0, -2.0])
    assert torch.allclose(loss_reference(x, torch.ones(2)), -torch.nn.functional.logsigmoid(x).mean())


def picked_by_its_sign():
    """Each half by a form that cannot overflow on it."""

    def softplus(x):
        below, above = x < 0, ~(x < 0)
        y = torch.zeros_like(x)
        y[below] = torch.log(1 + torch.exp(x[below]))
        y[above] = x[above] + torch.log(1 + torch.exp(-x[x >= 0]))
        return y

    x = torch.tensor([-200.0, 1.0, 200.0])
    mask = x >= 0
    left = torch.log(1 + torch.exp(x[~mask]))
    assert softplus(x).isfinite().all() and left.isfinite().all()


def picked_by_the_other_sign():
    """Holds: y.isinf().any()"""

    def softplus(x):
        above = x > 0
        return torch.log(1 + torch.exp(x[above]))  # strict: [TLN605]

    y = softplus(torch.tensor([-200.0, 1.0, 200.0]))


def shifted_and_written_over():
    """The exponentials take the place of what they are made of: the maximum was subtracted before."""

    def cross_entropy(logits, target):
        logits = logits - logits.max(dim=-1)[0].unsqueeze(-1)
        predicted = logits.gather(-1, target).clone()
        exponentials = logits
        torch.exp(logits, out=exponentials)
        return torch.log(exponentials.sum(dim=-1)) - predicted.squeeze(-1)

    with torch.no_grad():
        assert cross_entropy(torch.tensor([[200.0, 0.0]]), torch.tensor([[0]])).isfinite().all()


def sampled_entries_are_read_where_nothing_is_recorded():
    """Holds: drawn.isfinite().all()"""

    @torch.no_grad()
    def sample(scores):
        probabilities = torch.softmax(scores, -1)
        token = torch.multinomial(probabilities, 1)
        return probabilities.log().gather(-1, token)  # strict: [TLN605]

    drawn = sample(torch.tensor([[0.0, 200.0]]))


def clamped_in_a_sampler():
    """Holds: found.isfinite().all()"""

    def sample(scores):
        probabilities = torch.softmax(scores, -1)
        return torch.log(probabilities).clamp(min=-100.0)  # strict: [TLN605]

    found = sample(torch.tensor([[0.0, 200.0]]))


def clamped_in_a_loss():
    """Holds: scores.grad.isnan().any()"""

    def loss_of(scores):
        probabilities = torch.softmax(scores, -1)
        return -torch.log(probabilities).clamp(min=-100.0)[0, 1]  # strict: [TLN220, TLN605]

    scores = torch.tensor([[0.0, -200.0]], requires_grad=True)
    loss_of(scores).backward()


def the_maximum_is_subtracted_in_place():
    def cross_entropy(logits):
        logits_max = torch.max(logits, dim=-1)[0]
        logits.sub_(logits_max.unsqueeze(dim=-1))
        exponentials = logits.exp()
        sums = exponentials.sum(dim=-1)
        return torch.log(sums) - logits[:, 0]

    def augmented(logits):
        logits -= logits.amax(-1, keepdim=True)
        return torch.log(logits.exp().sum(-1))

    def chained(logits):
        return torch.log(torch.exp(logits.sub_(logits.amax(-1, keepdim=True))).sum(-1))

    for each in (cross_entropy, augmented, chained):
        assert each(torch.tensor([[200.0, 0.0]])).isfinite().all()


def the_maximum_over_all_ranks_is_subtracted_in_place():
    def cross_entropy(logits, gathered):
        logits = logits.clone()
        logits_max = torch.max(logits, dim=-1)[0]
        torch.distributed.all_reduce(logits_max, op=torch.distributed.ReduceOp.MAX, group=gathered)
        logits.sub_(logits_max.unsqueeze(dim=-1))
        return torch.log(logits.exp().sum(dim=-1))


def the_exponentials_are_summed_over_all_ranks():
    """What `logsumexp` would be given is nowhere."""

    def free_energy(logits, gathered):
        sums = logits.exp().sum(dim=-1)
        torch.distributed.all_reduce(sums, group=gathered)
        return torch.log(sums)


def subtracted_after_the_exponential():
    """Holds: found.isinf().any()"""

    def free_energy(logits):
        exponentials = logits.exp()
        logits.sub_(logits.amax(-1, keepdim=True))
        return torch.log(exponentials.sum(-1))  # strict: [TLN605]

    found = free_energy(torch.tensor([[200.0, 0.0]]))


def what_where_discards_has_a_gradient():
    """Holds: weight.grad.isnan().any() and value.isfinite().all()"""

    def energy(x):
        return torch.where(x < 10, torch.log(1.0 + torch.exp(x)), x)  # strict: [TLN605]

    weight = torch.ones(1, requires_grad=True)
    value = energy(weight * torch.tensor([1.0, 100.0]))
    value.sum().backward()


def what_where_discards_of_the_larger():
    """Holds: weight.grad.isnan().any() and value.isfinite().all()"""

    def energy(x):
        return torch.where(x > 20, x, (x.exp() + 1).log())  # strict: [TLN605]

    weight = torch.ones(1, requires_grad=True)
    value = energy(weight * torch.tensor([1.0, 100.0]))
    value.sum().backward()


def what_where_discards_and_nobody_records():
    @torch.no_grad()
    def energy(x):
        return torch.where(x < 10, torch.log(1.0 + torch.exp(x)), x)

    energy(torch.tensor([1.0, 100.0]))


def what_where_keeps():
    """Holds: value.isinf().any()"""

    @torch.no_grad()
    def energy(x):
        return torch.where(x < 10, x, torch.log(1.0 + torch.exp(x)))  # strict: [TLN605]

    value = energy(torch.tensor([1.0, 100.0]))


def similarities_times_settings():
    """What a cosine is multiplied with is a number that somebody chose."""

    class Deviance(nn.Module):
        def __init__(self, alpha=1, beta=1.0):
            super().__init__()
            self.alpha, self.beta = alpha, beta

        def forward(self, one, other):
            similarity = F.cosine_similarity(one, other)
            return torch.log(1 + torch.exp(-self.alpha * (similarity - self.beta))).mean()

    Deviance()(torch.rand(2, 3), torch.rand(2, 3))


def scores_times_a_setting():
    """Holds: value.isinf().any()"""

    def deviance(x, alpha=2.0):
        return torch.log(1 + torch.exp(alpha * x))  # strict: [TLN605]

    value = deviance(torch.tensor([1.0, 100.0]))


def what_where_discards_in_a_file_without_gradients():
    """Holds: slope.isnan()"""

    def energy(x):
        return torch.where(x < 10, torch.log(1.0 + torch.exp(x)), x)  # strict: [TLN605]

    slope = torch.func.jacrev(energy)(torch.tensor(100.0))


def similarities_have_bounds():
    a, b = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3)
    cosine = nn.CosineSimilarity(dim=1)
    apart = torch.log(1 - torch.sigmoid(1 - F.cosine_similarity(a, b)))
    near = torch.log(torch.sigmoid(cosine(a, b) / 0.1))
    rows = F.normalize(a, dim=-1)
    pairs = torch.log(torch.sigmoid(rows @ F.normalize(b, dim=-1).t()))
    own = a / (a.norm(dim=-1, keepdim=True) + 1e-8)
    parts = torch.log(torch.sigmoid(own * 3))
    scaled = torch.log(torch.sigmoid(own @ (b / b.norm(dim=-1, keepdim=True)).T / 0.1))


def divided_by_the_length_of_another():
    """Holds: parts.isinf().any()"""
    a, b = torch.tensor([-300.0, 1.0], requires_grad=True), torch.tensor([0.5, 0.5])
    parts = torch.log(torch.sigmoid(a / b.norm()))  # smell: [TLN605]


def product_with_what_has_another_length():
    """Holds: scores.isinf().any()"""
    a, b = torch.tensor([[3.0, 4.0]], requires_grad=True), torch.tensor([[-300.0, 0.0]])
    scores = torch.log(torch.sigmoid(F.normalize(a, dim=-1) @ b.t()))  # smell: [TLN605]


def gates_that_are_never_far_below_zero():
    a, b = torch.randn(4, requires_grad=True), torch.randn(4)
    layer = nn.ReLU6()
    one = torch.log(torch.sigmoid(layer(a)))
    two = torch.log(torch.sigmoid(F.gelu(a)))
    three = torch.log(torch.sigmoid(nn.MSELoss()(a, b)))
    four = torch.log(torch.sigmoid(torch.log(a.clamp(min=1e-6))))
    five = torch.log(torch.sigmoid(F.one_hot(torch.tensor([1, 0])).float()))


def gate_that_is_far_above_zero():
    """Holds: chance.isinf().any()"""
    a = torch.tensor([100.0, 1.0], requires_grad=True)
    chance = torch.log(1 - torch.sigmoid(F.gelu(a)))  # smell: [TLN605]


def error_that_is_negated():
    """Holds: chance.isinf().any()"""
    a, b = torch.tensor([100.0, 1.0], requires_grad=True), torch.zeros(2)
    chance = torch.log(torch.sigmoid(-F.mse_loss(a, b)))  # smell: [TLN605]


def log_of_a_sigmoid_of_cosines():
    def score(a, b):
        a, b = F.normalize(a, p=2, dim=-1), F.normalize(b, p=2.0, dim=-1)
        return torch.sum(torch.multiply(a, b), 1)

    x = torch.randn(4, 3, requires_grad=True)
    pos, neg = score(x, torch.randn(4, 3)), score(x.flip(0), torch.randn(4, 3))
    torch.log(torch.sigmoid(pos - neg)).mean().neg().backward()
    assert x.grad.isfinite().all()


def table_of_a_logarithm():
    table = torch.log(torch.sigmoid(torch.arange(-6.01, 6.01, 0.01)))
    steps = torch.log(torch.sigmoid(-torch.linspace(-8, 8, 5)))
    assert table.isfinite().all() and steps.isfinite().all()
