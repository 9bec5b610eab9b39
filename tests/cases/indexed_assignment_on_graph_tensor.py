# ruff: noqa
"""Programs for TLN205."""

import numpy as np
import torch
from torch import nn


def recurrence_in_one_buffer():
    """Raises: modified by an inplace operation"""
    decay = torch.tensor(0.5, requires_grad=True)
    h = torch.zeros(4)
    h[0] = 1.0
    for t in range(1, 4):
        h[t] = h[t - 1] * decay  # error: [TLN205]
    h.sum().backward()


def outputs_collected():
    cell = nn.GRUCell(2, 3)
    state, outputs = torch.zeros(4, 3), torch.zeros(5, 4, 3)
    for t in range(5):
        state = cell(torch.rand(4, 2), state)
        outputs[t] = state
    outputs.sum().backward()


def running_sum_in_a_buffer():
    """Holds: 'CopySlices' in sums.grad_fn.name()"""
    cell = nn.GRUCell(2, 3)
    state, sums = torch.zeros(4, 3), torch.zeros(5, 4, 3)
    for t in range(1, 5):
        state = cell(torch.rand(4, 2), state)
        sums[t] = sums[t - 1] + state  # strict: [TLN205, TLN220]
    sums.sum().backward()


def filled_after_it_was_moved():
    net = nn.Linear(2, 3)
    rows = torch.zeros(5, 3).to(torch.float32)
    for t, x in enumerate(torch.rand(5, 2)):
        rows[t] = net(x)
    rows[-1].sum().backward()


def several_writes_to_one_tensor():
    """Holds: y._version == 2"""
    y = nn.Linear(3, 3)(torch.rand(4, 3))
    y[:, 0] = 0.0  # strict: [TLN205]
    y[:, 1] = 1.0
    y.sum().backward()


def scores_masked():
    """Holds: scores._version == 1"""
    net = nn.Linear(4, 4)
    scores = net(torch.rand(2, 4))
    scores[:, 0] = float("-inf")  # strict: [TLN205]
    scores.softmax(-1).sum(0).max().backward()


def key_cache():
    """Raises: modified by an inplace operation"""
    project = nn.Linear(3, 3)
    cache = torch.zeros(4, 3)
    total = torch.zeros(())
    for t in range(3):
        cache[t] = project(torch.rand(3))  # error: [TLN205]
        total = total + (cache[: t + 1] @ cache[t]).sum()
    total.backward()


def boundary_condition():
    """Holds: u._version == 1"""
    net = nn.Linear(1, 1)
    u = net(torch.linspace(0, 1, 5).unsqueeze(1)).squeeze(1)
    u[0] = 0.0  # strict: [TLN205]
    u.diff().pow(2).sum().backward()


def adds_to_an_element():
    """Holds: y._version >= 1"""
    x = torch.rand(3, requires_grad=True)
    y = x + 0
    y[0] += 1.0  # strict: [TLN205]
    y.sum().backward()


def mask_in_no_graph():
    x = torch.rand(4, requires_grad=True)
    mask = torch.zeros(4)
    mask[1:] = 1.0
    (x * mask).sum().backward()


def lists_dicts_and_arrays():
    x = torch.rand(2, requires_grad=True)
    history, named, values = [None] * 2, {}, np.zeros(2)
    for i in range(2):
        history[i] = x[i]
        named[str(i)] = x[i]
        values[i] = x[i].item()
    (history[0] + named["1"]).backward()


def stacked():
    cell = nn.GRUCell(2, 3)
    state, outputs = torch.zeros(4, 3), []
    for _ in range(5):
        state = cell(torch.rand(4, 2), state)
        outputs.append(state)
    torch.stack(outputs).sum().backward()


def filled_without_gradient():
    net = nn.Linear(2, 2)
    table = torch.zeros(3, 2)
    with torch.no_grad():
        for i in range(3):
            table[i] = net(torch.rand(2))


def detached_value():
    net = nn.Linear(2, 2)
    log = torch.zeros(3, 2)
    for i in range(3):
        out = net(torch.rand(2))
        log[i] = out.detach()
        out.sum().backward()


def one_hot():
    labels = torch.zeros(3, 4)
    labels[torch.arange(3), torch.tensor([0, 2, 1])] = 1.0
    logits = nn.Linear(2, 4)(torch.rand(3, 2))
    (logits * labels).sum().backward()


def state_dict_entry():
    state = nn.Linear(2, 2).state_dict()
    state["weight"] = torch.zeros(2, 2)


def a_masked_part_computed_from_itself():
    net, mask = nn.Linear(2, 2), torch.tensor([True, False])
    out = net(torch.ones(1, 2))
    out[:, mask] = torch.exp(out[:, mask])
    out[:, ~mask] = 1 + out[:, ~mask]
    assert torch.autograd.grad(out.sum(), net.weight)[0] is not None


def columns_computed_from_themselves():
    net = nn.Linear(2, 2)
    out = net(torch.ones(1, 2))
    out[:, 0] = torch.sigmoid(out[:, 0])
    out[:, 1] = torch.exp(out[:, 1])
    assert torch.autograd.grad(out.sum(), net.weight)[0] is not None


def columns_read_through_a_copy():
    net, idx = nn.Linear(2, 2), [1]
    out = torch.cat([net(torch.ones(1, 2)), torch.ones(1, 1)], dim=1)
    out[:, 2] = 0.0
    middle = out[:, idx]
    out[:, [0, 2]] = middle + torch.nn.functional.softplus(out[:, [0, 2]])
    assert torch.autograd.grad(out.sum(), net.weight)[0] is not None


def a_view_kept_while_its_base_is_written():
    """Holds: kept[0, 0] == 0"""
    net = nn.Linear(2, 2)
    out = net(torch.ones(1, 2))
    out[:, 0] = 1.0  # strict: [TLN205]
    kept = out[:, :1]  # strict: [TLN220]
    out[:, 0] = 0.0


def product_put_back_into_a_part():
    """Raises: modified by an inplace operation"""
    x = torch.rand(3, 3, requires_grad=True).exp()
    x[0] @= torch.rand(3, 3)  # error: [TLN205]
    x.sum().backward()


def product_put_into_a_list():
    parts = [torch.rand(3, 3, requires_grad=True).exp()]
    parts[-1] @= torch.rand(3, 3)
    parts[-1].sum().backward()


def autoregressive_loop_that_reads_views():
    """Raises: modified by an inplace operation"""

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(3, 3)

        def decode(self, first):
            y = torch.zeros(2, 4, 3)
            y[:, 0] = first
            for t in range(1, 4):
                y[:, t] = self.cell(y[:, t - 1])  # error: [TLN205]  # strict: [TLN220]
            return y

    Decoder().decode(torch.ones(2, 3)).sum().backward()


def autoregressive_loop_that_reads_copies():
    """Holds: 'CopySlices' in y.grad_fn.name()"""
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(3, 3)

        def decode(self, first):
            y = torch.zeros(2, 4, 3)
            y[:, 0] = first
            for t in range(1, 4):
                y[:, t] = self.cell(y[:, t - 1].clone())  # strict: [TLN205, TLN220]
            return y

    y = Decoder().decode(torch.ones(2, 3))
    y.sum().backward()


def overlap_and_add():
    """Holds: 'CopySlices' in out.grad_fn.name()"""

    def joined(net, frames):
        out = torch.zeros(6)
        for i in range(4):
            out[i : i + 3] = out[i : i + 3] + net(frames[i])  # strict: [TLN205, TLN220]
        return out

    out = joined(nn.Linear(3, 3), torch.rand(4, 3))
    out.sum().backward()


def codes_of_an_autoregressive_loop():
    """Holds: all(isinstance(each, float) for each in symbols)"""

    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(3, 3)

        def codes(self, y):
            symbols = []
            y = self.cell(y)
            for t in range(1, 4):
                y[:, t] = self.cell(y[:, t - 1])  # strict: [TLN205, TLN220]
                symbols.extend(y[:, t].flatten().tolist())  # strict: [TLN220]
            return symbols

    symbols = Coder().codes(torch.ones(2, 4, 3))


def ramps_at_the_ends():
    """Holds: 'CopySlices' in out.grad_fn.name()"""

    def blended(net, frames, width):
        out = net(frames) * 1.0
        ramp = torch.arange(0, width).float() / width
        out[:, :width] = out[:, :width] * ramp  # strict: [TLN205, TLN220]
        out[:, -width:] = out[:, -width:] * (1 - ramp)  # strict: [TLN220]
        return out

    out = blended(nn.Linear(4, 4), torch.rand(2, 4), 2)
    out.sum().backward()


def memory_that_unknown_code_was_given():
    """Raises: modified by an inplace operation"""
    cell = eval("nn.Linear(3, 3)")
    y = torch.zeros(4, 3)
    y[0] = nn.Parameter(torch.ones(3))  # strict: [TLN205]
    for t in range(1, 4):
        y[t] = cell(y[t - 1])  # strict: [TLN220]
    y.sum().backward()


def blocks_put_back_after_a_layer_has_read_them():
    """Raises: modified by an inplace operation"""

    class Blocks(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers, self.query, self.norm = layers, nn.Linear(3, 3), nn.LayerNorm(3)

        def forward(self, x):
            blocks = x.view(2, 4, 3)
            for _ in range(self.layers):
                for outer in range(4):
                    query = self.query(blocks[:, outer])  # strict: [TLN220]
                    blocks[:, outer] = self.norm(query + blocks[:, outer])  # error: [TLN205]  # strict: [TLN220]
                blocks = self.norm(blocks).view(2, 4, 3)
            return blocks

    Blocks(2)(torch.rand(2, 12)).sum().backward()


def parts_of_an_argument_are_one_finding():
    """Raises: modified by an inplace operation"""

    class Clip(nn.Module):
        def forward(self, boxes: torch.Tensor):
            boxes[:, :2] = torch.clamp(boxes[:, :2], min=0)  # warning: [TLN205]
            boxes[:, 2] = torch.clamp(boxes[:, 2], max=4)
            boxes[:, 3] = torch.clamp(boxes[:, 3], max=4)
            return boxes

    boxes = torch.rand(3, 4, requires_grad=True) * 5
    eval("Clip()(boxes).sum().backward()")


def rows_of_a_mask_are_read_and_replaced():
    class Experts(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.experts = nn.ModuleList([nn.Linear(n, n) for _ in range(3)])

        def forward(self, x, router):
            mask = router.bool()
            hidden = torch.einsum("bm,be->ebm", x, router)
            for idx, expert in enumerate(self.experts):
                tokens = mask[:, idx]
                out = expert(hidden[idx, tokens])
                hidden[idx, tokens] = torch.einsum("b,be->be", router[tokens, idx], out)
            return hidden.sum(0)

    net = Experts(3)
    net(torch.rand(4, 3), (torch.rand(4, 3) > 0.5).float()).sum().backward()


def an_index_that_nobody_knows():
    class Embed(nn.Module):
        def __init__(self, n, fusion):
            super().__init__()
            self.proj = nn.Conv1d(n, n, 1)
            self.fusion = fusion

        def forward(self, x, longer=None):
            hidden = self.proj(x)
            if len(longer) > 0:
                hidden[longer] = self.fusion(hidden[longer])
            return hidden

    net = Embed(3, nn.Linear(3, 3))
    net(torch.rand(4, 3, 3), torch.tensor([1, 2])).sum().backward()


def search_whose_scores_nobody_differentiates():
    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out = torch.nn.Linear(2, 3)

        def beam_search(self, x):
            scores = torch.log_softmax(self.out(x), dim=1)
            scores[:, 1:] = -1e4
            return scores.topk(2)

    Decoder().beam_search(torch.ones(1, 2))


def arm_for_evaluation():
    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            h = torch.exp(self.lin(x))
            if self.training:
                return torch.cat([h[:, :2], h[:, 2:] * 2], 1)
            y = torch.softmax(h, 1)
            y[:, 2:] *= 2
            return y.detach()

    Gate()(torch.ones(1, 2)).sum().backward()


def window_of_an_attention_that_only_infers():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, windowing):
            super().__init__()
            self.score = nn.Linear(4, 1)
            self.windowing = windowing

        def windowed(self, attention):
            attention[:, 0] = attention.amax(1)  # strict: [TLN205]
            return attention

        def forward(self, query):
            attention = self.score(torch.tanh(query)).squeeze(-1)
            if not self.training and self.windowing:
                attention = self.windowed(attention)
            return torch.softmax(attention, -1)

    call = eval("lambda function, *given: function(*given)")
    call(Attention(True).eval(), torch.rand(2, 3, 4)).sum().backward()


def window_of_an_attention_that_trains():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, windowing):
            super().__init__()
            self.score = nn.Linear(4, 1)
            self.windowing = windowing

        def forward(self, query):
            attention = self.score(torch.tanh(query)).squeeze(-1)
            if not self.training and self.windowing:
                attention = attention.clone()
            else:
                attention[:, 0] = attention.amax(1)  # error: [TLN205]
            return torch.softmax(attention, -1)

    Attention(True)(torch.rand(2, 3, 4)).sum().backward()


def part_rotated_by_what_nobody_knows():
    """Holds: query._version == 1"""
    rotated = eval("lambda part: part.flip(-1)")
    query = torch.relu(nn.Linear(4, 4)(torch.rand(2, 3, 4))) * 2
    query[:, :2] = rotated(query[:, :2])  # strict: [TLN205, TLN220]
    query.sum().backward()


def another_part_given_to_what_nobody_knows():
    """Holds: raised"""
    squared = eval("lambda part: part * part")
    query = torch.relu(nn.Linear(4, 4)(torch.rand(2, 4, 4))) * 2
    query[:, :2] = squared(query[:, 2:])  # strict: [TLN205, TLN220]
    try:
        query.sum().backward()
        raised = False
    except RuntimeError:
        raised = True


def rows_flipped_after_they_were_packed():
    """Holds: features._version == 2"""
    lstm = nn.LSTM(4, 4, batch_first=True)
    lengths = [3, 2]
    features = nn.Linear(4, 4)(torch.rand(2, 3, 4))
    packed = torch.nn.utils.rnn.pack_padded_sequence(features, lengths, batch_first=True)
    forwards, _ = lstm(packed)
    for i in range(features.shape[0]):
        features[i, : lengths[i]] = features[i, : lengths[i]].flip(dims=[0])  # strict: [TLN205, TLN220]
    outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(forwards, batch_first=True)
    (lstm(features)[0].sum() + outputs.sum()).backward()


def given_to_what_an_import_may_be():
    """Holds: log_delta._version == 4"""
    from operator import add

    steps = nn.Parameter(torch.rand(4, 3))
    log_delta = torch.zeros(4, 3)
    log_delta[0] = steps[0]  # strict: [TLN205, TLN220]
    for t in range(1, 4):
        log_delta[t] = add(log_delta[t - 1], steps[t])  # strict: [TLN220, TLN220]
    log_delta.sum().backward()


def a_layer_that_another_method_freezes():
    """Holds: not out.requires_grad"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 3)

        def on_train_epoch_start(self):
            for parameter in self.body.parameters():
                parameter.requires_grad = False

        def forward(self, x):
            y = torch.softmax(self.body(x), -1)
            y[0] = 1  # warning: [TLN205]
            return y

    class Other(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 3)

        def freeze(self):
            self.body.requires_grad_(False)

        def forward(self, x):
            y = torch.softmax(self.head(self.body(x)), -1)
            y[0] = 1  # error: [TLN205]
            return y

    frozen = Net()
    frozen.on_train_epoch_start()
    out = frozen(torch.rand(2, 3))


def samples_that_are_only_drawn_with_grad_mode_off():
    """Holds: not drawn.requires_grad"""

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 2)

        def drawn(self, u):
            y = torch.softmax(self.net(u), -1)
            y[u > 0.5] = 0.0  # strict: [TLN205]
            return y

        def sampled(self, u):
            y = torch.softmax(self.net(u), -1)
            y[u > 0.5] = 0.0  # smell: [TLN205]
            return y

    flow = Flow()
    with torch.no_grad():
        drawn = flow.drawn(torch.rand(3, 2))
        flow.sampled(torch.rand(3, 2))
    flow.sampled(torch.rand(3, 2))
def replaced_where_there_is_a_nan():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(4, 12)
            self.dropout = nn.Dropout(0.1)

        def forward(self, x):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            attn = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
            attn[..., :1] = 0  # warning: [TLN205]
            if torch.isnan(attn).any():
                attn = torch.ones_like(attn) / attn.shape[-1]
            return self.dropout(attn) @ v

    Attention()(torch.rand(2, 3, 4)).sum().backward()


def replaced_where_there_is_none():
    """The other arm gives what nobody wrote into."""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(4, 12)
            self.dropout = nn.Dropout(0.1)

        def forward(self, x):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            attn = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
            shown = attn.detach().clone()
            shown[..., :1] = 0
            if not torch.isnan(attn).any():
                return self.dropout(attn) @ v
            return shown @ v

    Attention()(torch.rand(2, 3, 4)).sum().backward()


def part_that_the_next_round_writes_into():
    """Raises: modified by an inplace operation"""

    class Scaled(nn.Module):
        def __init__(self, parts, wide):
            super().__init__()
            self.parts = parts
            self.weight = nn.Parameter(torch.rand(wide))

        @staticmethod
        def part(l):
            return slice(l * l, (l + 1) * (l + 1))

        def forward(self, x):
            out = []
            for l in range(self.parts):
                block = x[:, Scaled.part(l)]
                block[..., :1] = 0  # error: [TLN205]
                out.append(block * self.weight[Scaled.part(l)])
            return torch.cat(out, dim=-1)

    Scaled(2, 4)(torch.rand(3, 4)).sum().backward()


def part_of_a_copy_that_each_round_makes():
    class Scaled(nn.Module):
        def __init__(self, parts, wide):
            super().__init__()
            self.parts = parts
            self.weight = nn.Parameter(torch.rand(wide))

        def forward(self, x):
            out = []
            for l in range(self.parts):
                block = x.clone()[:, slice(l * l, (l + 1) * (l + 1))]
                block[..., :1] = 0
                out.append(block * self.weight[l * l : (l + 1) * (l + 1)])
            return torch.cat(out, dim=-1)

    Scaled(2, 4)(torch.rand(3, 4)).sum().backward()


def part_that_only_the_last_round_keeps():
    class Scaled(nn.Module):
        def __init__(self, parts, wide):
            super().__init__()
            self.parts = parts
            self.weight = nn.Parameter(torch.rand(wide))

        def forward(self, x):
            out = []
            for l in range(self.parts):
                out.clear()
                block = x[:, l : l + 1]
                block[..., :1] = 0
                out.append(block * self.weight[l])
            return torch.cat(out, dim=-1)

    Scaled(2, 4)(torch.rand(3, 4)).sum().backward()


def times_a_number_as_its_annotation_says():
    """Holds: out._version == 2"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x, stride: float, offset: "float | None" = None, scale: float | None = None):
            poses = self.layer(x)
            poses[:, 0] = poses[:, 0] * stride + 0.5 * stride  # strict: [TLN205]  # strict: [TLN220]
            if scale is not None:
                poses[:, 1] = poses[:, 1] * scale  # strict: [TLN220]
            return poses

    out = Scaled()(torch.ones(2, 3), 4.0, scale=0.5)
    out.sum().backward()


def times_what_may_be_a_tensor():
    """Raises: modified by an inplace operation"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x, stride):
            poses = self.layer(x)
            poses[:, 0] = poses[:, 0] * stride + 0.5 * stride  # error: [TLN205]  # strict: [TLN220]
            return poses

    Scaled()(torch.ones(2, 3), torch.tensor(4.0, requires_grad=True)).sum().backward()
