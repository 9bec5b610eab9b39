"""Modules, custom Functions and helper functions that a program defines before it uses them."""

from __future__ import annotations

from dataclasses import dataclass

from .draft import Draft

ACTIVATIONS = (
    "nn.ReLU()",
    "nn.ReLU(inplace=True)",
    "nn.Tanh()",
    "nn.Sigmoid()",
    "nn.LeakyReLU(0.1, inplace=True)",
    "nn.ELU(inplace=True)",
    "nn.GELU()",
    "nn.SiLU(inplace=True)",
    "nn.Softplus()",
    "nn.Hardtanh(inplace=True)",
    "nn.ReLU6()",
    "nn.Dropout(0.2)",
    "nn.Identity()",
    "nn.Hardswish(inplace=True)",
)


@dataclass(frozen=True)
class Network:
    """A class of Modules; `extra` is the argument its constructor takes beside the sizes."""

    name: str
    inside: int
    outside: int
    made: str
    weight: str
    stateful: bool = False


def network(draft: Draft, inside: int = 4, outside: int = 4) -> Network:
    """Define a Module, or take layers as they are."""
    way = draft.number(0, 9)
    if way == 0:
        return Network("nn.Linear", inside, outside, f"nn.Linear({inside}, {outside})", "weight")
    if way <= 2:
        hidden = draft.number(3, 6)
        act = draft.draw.choice(ACTIVATIONS)
        middle = draft.pick("", f"nn.LayerNorm({hidden}), ", f"nn.BatchNorm1d({hidden}), ")
        made = f"nn.Sequential(nn.Linear({inside}, {hidden}), {middle}{act}, nn.Linear({hidden}, {outside})"
        return Network(
            "nn.Sequential", inside, outside, made + draft.pick(")", f", {draft.draw.choice(ACTIVATIONS)})"), "0.weight"
        )
    return _class(draft, inside, outside)


def _class(draft: Draft, inside: int, outside: int) -> Network:
    name = draft.name("Net", "Model", "Block", "Encoder", "Head", "Critic")
    hidden = draft.number(3, 6)
    body = [f"class {name}(nn.Module):", f"    def __init__(self{draft.pick('', ', dim=' + str(hidden))}):"]
    size = "dim" if "dim" in body[1] else str(hidden)
    body.append("        super().__init__()" if draft.chance(0.7) else f"        super({name}, self).__init__()")
    body.append(f"        self.fc = nn.Linear({inside}, {size})")
    many = draft.chance(0.25)
    if many:
        body.append(
            f"        self.layers = nn.ModuleList([nn.Linear({size}, {size}) for _ in range({draft.number(2, 3)})])"
        )
    act = draft.draw.choice(ACTIVATIONS)
    body.append(f"        self.act = {act}")
    body.append(f"        self.out = nn.Linear({size}, {outside})")
    normed, scaled, buffered = draft.chance(0.3), draft.chance(0.4), draft.chance(0.3)
    if normed:
        body.append(f"        self.norm = nn.LayerNorm({size})")
    if scaled:
        body.append(f"        self.scale = nn.Parameter(torch.ones({size}))")
    if buffered:
        body.append(f'        self.register_buffer("running", torch.zeros({size}))')
    state = draft.chance(0.2)
    if state:
        body.append(f"        self.state = torch.zeros({size})")
    h = draft.pick("h", "x", "x", "hidden")
    body += ["", "    def forward(self, x):"]
    step = "        "
    body.append(f"{step}{h} = self.fc(x)")
    steps = []
    if many:
        steps.append(
            [
                "for layer in self.layers:",
                "    "
                + draft.pick(
                    f"{h} = self.act(layer({h}))",
                    f"{h} = {h} + self.act(layer({h}))",
                    f"{h} += layer({h})",
                    f"{h} = layer({h}).relu_()",
                ),
            ]
        )
    if normed:
        steps.append([f"{h} = self.norm({h})"])
    if scaled:
        steps.append(
            [
                draft.pick(
                    f"{h} = {h} * self.scale",
                    f"{h} *= self.scale",
                    f"{h} += self.scale",
                    f"{h} = torch.addcmul({h}, {h}, self.scale)",
                )
            ]
        )
    if buffered:
        steps.append(_buffer(draft, h))
    if state:
        steps.append(
            draft.draw.choice(
                [
                    [f"{h} = {h} + self.state", f"self.state = {h}.mean(0)"],
                    [f"{h} = {h} * self.state.tanh()", f"self.state = {h}.mean(0).detach()"],
                    [f"self.state = self.state + {h}.sum(0)"],
                    [f"{h} = {h} + torch.sigmoid(self.state)", f"self.state = {h}.detach().mean(0)"],
                ]
            )
        )
    steps.append([f"{h} = self.act({h})"])
    for _ in range(draft.number(0, 2)):
        steps.append(_step(draft, h))
    draft.draw.shuffle(steps)
    body += [step + line for lines in steps for line in lines]
    body.append(
        draft.pick(f"{step}return self.out({h})", f"{step}y = self.out({h})", f"{step}y = self.act(self.out({h}))")
    )
    if "return" not in body[-1]:
        if draft.chance(0.4):
            body.append(
                step + draft.pick("y += 1", "y.mul_(0.5)", "y = y.clamp(-5, 5)", "y = y.sigmoid()", "y[:, 0] = 0")
            )
        body.append(f"{step}return y")
    draft.define(body)
    return Network(name, inside, outside, f"{name}()", "fc.weight", stateful=state)


def _buffer(draft: Draft, h: str) -> list[str]:
    return draft.draw.choice(
        [
            [f"self.running = 0.9 * self.running + 0.1 * {h}.mean(0)"],
            [f"self.running = 0.9 * self.running + 0.1 * {h}.mean(0).detach()"],
            [f"self.running.mul_(0.9).add_({h}.mean(0), alpha=0.1)"],
            ["with torch.no_grad():", f"    self.running.mul_(0.9).add_({h}.mean(0))"],
            ["with torch.no_grad():", f"    self.running += {h}.mean(0)", f"{h} = {h} * self.running"],
            [f"self.running += {h}.detach().mean(0)", f"{h} = {h} * self.running"],
            [f"{h} = {h} - self.running", f"self.running.copy_({h}.detach().mean(0))"],
            [f"{h} = {h} * self.running", "self.running.data.add_(1)"],
            [f"{h} = {h} * (self.running + 1)", "self.running.add_(1)"],
            ["if self.training:", f"    self.running.lerp_({h}.detach().mean(0), 0.1)", f"{h} = {h} + self.running"],
            [f"{h} = {h} * self.running.clone()", "self.running.zero_()"],
        ]
    )


def _step(draft: Draft, h: str) -> list[str]:
    draft.imports.add("import torch.nn.functional as F")
    return draft.draw.choice(
        [
            [f"residual = {h}", f"{h} = F.relu({h})", f"{h} += residual"],
            [f"residual = {h}", f"{h} = F.relu({h}, inplace=True)", f"{h} = {h} + residual"],
            [f"{h} = F.relu({h}, inplace=True)"],
            [f"{h} = torch.sigmoid({h})", f"{h} *= 2"],
            [f"{h} = {h}.exp()", f"{h} = {h} / {h}.sum(-1, keepdim=True)"],
            [f"{h}[:, 0] = 0"],
            [f"{h} = {h} ** 2", f"{h} += 1"],
            [f"gate = {h}.sigmoid()", f"{h} = {h} * gate"],
            [f"gate = {h}.sigmoid()", "gate[:, 1:] = 1", f"{h} = {h} * gate"],
            [f"a, b = {h}[:, :1], {h}[:, 1:]", f"{h} = torch.cat([a.tanh(), b], dim=1)"],
            [
                f"a, b = {h}.split([1, {h}.size(1) - 1], dim=1)",
                "a.mul_(2)" if draft.chance(0.3) else "a = a * 2",
                f"{h} = torch.cat([a, b], 1)",
            ],
            [f"{h} = F.dropout({h}, 0.1, self.training)"],
            [f"mask = {h} > 0", f"{h} = {h}.masked_fill(mask, 0.1)"],
            [
                f"mask = torch.ones_like({h})",
                f"{h} = {h} * mask",
                "mask[0] = 0" if draft.chance(0.5) else "mask = mask - 1",
            ],
            [f"{h} = {h}.clone()", f"{h}[0] += 1"],
            ["with torch.no_grad():", f"    {h}.clamp_(-1, 1)"],
            ["with torch.no_grad():", f"    norm = {h}.norm()", f"{h} = {h} / (norm + 1)"],
            [f"out = torch.empty_like({h})", "for i in range(out.size(0)):", f"    out[i] = {h}[i] * 2", f"{h} = out"],
            [f"{h} = {h}.view(-1).tanh().view({h}.shape)"],
            [f"{h}.mul_(0.5)"],
            [f"{h} = {h}.softmax(dim=-1)"],
            [f"{h} = torch.stack([row * 2 for row in {h}])"],
            [f"for row in {h}:", "    row.mul_(2)"],
            [f"{h} = sum({h} * k for k in range(1, 3))"],
            [f"if {h}.dim() == 2:", f"    {h} = {h}.tanh()", "else:", f"    {h} = {h}[None]"],
            [f"attn = ({h} @ {h}.t()).softmax(-1)", f"{h} = attn @ {h}"],
            [f"attn = ({h} @ {h}.t()).softmax(-1)", "attn *= 0.5", f"{h} = attn @ {h}"],
            [f"self.last = {h}"],
            [f"self.last = {h}.detach()", f"{h} = {h} + 1"],
        ]
    )


def custom_function(draft: Draft) -> str:
    """Define an `autograd.Function` of one tensor and say how it is called."""
    name = draft.name("Square", "Clip", "Scale", "Exp")
    saved = draft.pick("x", "out", "x, out", "nothing", "ctx")
    forward = draft.pick("x * x", "x.exp()", "x.clamp(min=0)", "x * 3", "x.clone()", "torch.tanh(x)")
    lines = [f"class {name}(torch.autograd.Function):", "    @staticmethod"]
    setup = draft.chance(0.2) and saved != "out"
    head = "    def forward(x):" if setup else "    def forward(ctx, x):"
    lines += [head]
    in_place = not setup and draft.chance(0.15)
    if in_place:
        lines += ["        ctx.mark_dirty(x)", "        x.mul_(2)", "        return x"]
        saved = "nothing"
    else:
        lines += [f"        out = {forward}"]
        if not setup:
            lines += _saving(saved)
        lines.append("        return out")
    if setup:
        lines += [
            "",
            "    @staticmethod",
            "    def setup_context(ctx, inputs, output):",
            "        (x,) = inputs",
            "        out = output",
            *_saving(saved),
        ]
    grad = draft.pick("grad", "grad_output", "g")
    lines += ["", "    @staticmethod", f"    def backward(ctx, {grad}):"]
    if saved in ("x", "out"):
        lines += ["        (kept,) = ctx.saved_tensors", f"        return {grad} * kept"]
    elif saved == "x, out":
        lines += ["        x, out = ctx.saved_tensors", f"        return {grad} * x * out"]
    elif saved == "ctx":
        lines += [f"        return {grad} * ctx.x"]
    else:
        lines += [f"        return {grad}" + draft.pick("", " * 2", ".clone()", ", None" if draft.chance(0.15) else "")]
    draft.define(lines)
    return f"{name}.apply"


def _saving(saved: str) -> list[str]:
    if saved == "nothing":
        return []
    if saved == "ctx":
        return ["        ctx.x = x"]
    return [f"        ctx.save_for_backward({saved})"]


def helper(draft: Draft) -> str:
    """Define a function from a tensor to a tensor of the same shape."""
    name = draft.name("smooth", "normalise", "apply_noise", "squash", "helper")
    body = draft.draw.choice(
        [
            ["return t.tanh()"],
            ["t.mul_(2)", "return t"],
            ["t += 1", "return t"],
            ["t = t + 1", "t.relu_()", "return t"],
            ["s = t.sigmoid()", "t.zero_()", "return s"],
            ["with torch.no_grad():", "    return t * 2"],
            ["out = t.exp()", "out += 1", "return out"],
            ["return t.detach()"],
            ["out = torch.zeros_like(t)", "out[0] = t[0]", "return out"],
            ["out = []", "for row in t:", "    out.append(row * 2)", "return torch.stack(out)"],
            ["if inplace:", "    return t.exp_()", "return t.exp()"],
            ["mean = t.mean()", "return (t - mean) / (t.std() + 1)"],
            ["return t.clone().add_(1)"],
            ["def inner(u):", "    return u * t", "", "return inner(t.sigmoid())"],
            ["total = t", "for _ in range(2):", "    total = total * t", "return total"],
            ["try:", "    return t.sin()", "finally:", "    t = None"],
            ["scale = t.detach().abs().max()", "return t / (scale + 1)"],
            ["return (lambda u: u * u)(t)"],
            ["y = t.view(-1)", "y[0] = 1", "return t"],
            ["t.data.clamp_(-1, 1)", "return t.square()"],
            ["out = t * t", "t.copy_(out)", "return out"],
        ]
    )
    decorator = ["@torch.no_grad()"] if draft.chance(0.08) else ["@torch.enable_grad()"] if draft.chance(0.04) else []
    header = f"def {name}(t, inplace={draft.pick('False', 'True')}):" if "if inplace:" in body else f"def {name}(t):"
    draft.define([*decorator, header, *("    " + line if line else "" for line in body)])
    return name
