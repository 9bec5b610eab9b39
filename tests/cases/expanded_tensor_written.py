# ruff: noqa
"""Programs for TLN208."""

import torch
from torch import nn


def bias_per_row():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""
    scores, bias = torch.rand(4, 3), torch.zeros(3)
    rows = bias.expand_as(scores)
    rows += scores  # error: [TLN208]


def positions_shifted():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""
    positions = torch.arange(5.0).unsqueeze(0).expand(2, -1)
    positions.add_(1)  # error: [TLN208]


def causal_mask_per_head():
    """Holds: (mask[1] == mask[0]).all()"""
    mask = torch.ones(1, 3, 3).expand(2, 3, 3)
    mask[0] = torch.tril(torch.ones(3, 3))  # warning: [TLN208]


def class_token():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("token", torch.zeros(1, 1, 4))

        def forward(self, x):
            tokens = self.token.expand(x.shape[0], 1, 4)
            tokens += x.mean(dim=1, keepdim=True)  # error: [TLN208]
            return tokens

    Tokens()(torch.rand(2, 3, 4))


def noise_for_all():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""
    noise = torch.broadcast_to(torch.empty(3), (4, 3))
    noise.normal_()  # error: [TLN208]


def batch_of_unknown_size():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""

    def start_states(n):
        state = torch.zeros(4).expand(n, 4)
        state += torch.rand(n, 4)  # warning: [TLN208]
        return state

    start_states(int(torch.ones(3).sum()))


def cloned():
    mask = torch.ones(1, 3, 3).expand(2, 3, 3).clone()
    mask[0] = torch.tril(torch.ones(3, 3))
    mask *= 2


def copied_and_written_by_a_mask():
    found = torch.tensor([True, False])
    out = torch.eye(3)[None].expand(2, -1, -1).clone()
    out[found] = torch.ones(1, 3, 3)


def repeated():
    positions = torch.arange(5.0).repeat(2, 1)
    positions.add_(1)


def out_of_place():
    bias = torch.zeros(3).expand(4, 3)
    rows = bias + torch.rand(4, 3)
    rows *= 2


def filled_with_one_value():
    weights = torch.empty(1, 3).expand(4, 3)
    weights.fill_(0.5)
    weights.zero_()


def nothing_expanded():
    x = torch.rand(4, 3)
    y = x.expand(4, 3)
    y += 1
    z = torch.rand(1, 3).expand(1, 3)
    z.mul_(2)


def copied_by_contiguous():
    rows = torch.zeros(3).expand(4, 3).contiguous()
    rows[0] = 1.0
    summed = torch.zeros(3).expand(4, 3).reshape(12)


def expanded_to_sizes_of_which_nobody_knows_how_many():
    more = eval("[]")
    z = torch.rand(1, 3).expand(1, 3, *more)
    z.mul_(2)


def expanded_to_known_sizes_in_a_list():
    """Raises: more than one element"""
    more = [2, 3]
    z = torch.rand(1, 3).expand(*more)
    z.mul_(2)  # error: [TLN208]


def expanded_to_a_given_size():
    """Raises: refers to a single memory location"""

    def covariance(k):
        c = torch.ones(k, 1).expand(k, k)
        c *= 2.0  # warning: [TLN208]
        return c

    covariance(int(torch.tensor(3)))


def expanded_with_its_own_size():
    def rows(k):
        c = torch.ones(k, 1).expand(k, -1)
        c *= 2.0
        return c

    rows(3)


def expanded_and_copied():
    def covariance(k):
        c = torch.ones(k, 1).expand(k, k).contiguous()
        c *= 2.0
        return c

    covariance(3)


def filled_by_functions_that_write_one_value():
    rows = torch.rand(1).expand(3, 3)
    nn.init.constant_(rows, 2.0)
    nn.init.zeros_(rows)
    nn.init.ones_(rows)
    nn.functional.threshold(rows, 0.0, 0.0, inplace=True)
    rows.conj_physical_()
    counts = torch.tensor(1).expand(3, 3)
    counts.nan_to_num_()


def triangle_of_shared_elements():
    """Holds: mask.sum() == 0"""
    mask = torch.ones(1).expand(3, 3)
    mask.tril_()  # warning: [TLN208]


def copied_onto_itself():
    rows = torch.rand(3).expand(2, 3)
    rows.copy_(rows)
    rows.copy_(eval("rows"))


def expanded_and_without_elements():
    rows = torch.rand(1, 0).expand(3, 0)
    rows += 1


def shared_elements_and_a_dropout_that_does_not_run():
    rows = torch.rand(1).expand(3, 3)
    nn.functional.alpha_dropout(rows, 0.5, inplace=True)
    nn.functional.feature_alpha_dropout(rows, 0.5, inplace=True)


def shared_before_the_loop_alone():
    total = torch.ones(1).expand(3)
    for number in range(int(torch.tensor(3))):
        if number > 0:
            total += 1
        total = torch.ones(3)


def given_another_shape_in_place():
    h = torch.rand(1).expand(2, 3)
    h.unsqueeze_(0)
    h.transpose_(0, 1)
    h.squeeze_(1)
    h.t_()


def given_another_shape_in_place_and_written():
    """Raises: unsupported operation"""
    h = torch.rand(1).expand(2, 3)
    h.unsqueeze_(0)
    h.add_(1)  # error: [TLN208]


def axis_that_is_put_into_what_a_layer_gives():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""

    class Spread(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, q, k):
            b, n, d = q.shape
            keys = self.linear(k)[:, None].expand(b, n, k.shape[1], d)
            scores = self.linear(k)[..., None, :, :].expand(b, n, k.shape[1], d)
            scores.add_(1)  # warning: [TLN208]
            return keys.sum() + scores.sum()

    Spread()(*eval("[torch.rand(2, 3, 4), torch.rand(2, 5, 4)]"))


def axis_put_in_by_unsqueeze():
    """Raises: more than one element of the written-to tensor refers to a single memory location"""

    class Spread(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            rows = self.linear(x).unsqueeze(1).expand(-1, 3, -1)
            rows *= 2  # warning: [TLN208]
            return rows

    Spread()(eval("torch.rand(2, 4)"))


def axis_put_in_that_stays_one():
    class Spread(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            rows = self.linear(x).unsqueeze(1).expand(-1, -1, 4)
            rows *= 2
            same = self.linear(x)[:, None].expand(-1, 1, 4)
            same.mul_(2)
            return rows + same

    Spread()(eval("torch.rand(2, 4)"))
