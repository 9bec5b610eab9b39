"""Expressions and single statements about tensors: operations, views, writes in place, casts."""

from __future__ import annotations

from .draft import COLUMNS, ROWS, Draft, Shape, Tensor

UNARY = (
    "{}.exp()",
    "{}.sigmoid()",
    "torch.sigmoid({})",
    "{}.tanh()",
    "torch.tanh({})",
    "{}.relu()",
    "torch.relu({})",
    "{}.sin()",
    "torch.cos({})",
    "{}.abs()",
    "{}.square()",
    "-{}",
    "{} ** 2",
    "{}.pow(3)",
    "2 * {}",
    "{} / 3",
    "1 - {}",
    "1 / {}",
    "{}.reciprocal()",
    "{}.clamp(min=0)",
    "{}.clamp(0.1, 0.9)",
    "{}.clone()",
    "{}.contiguous()",
    "{}.erf()",
    "{}.expm1()",
    "{}.abs().log1p()",
    "torch.sqrt({}.abs() + 1)",
    "F.softplus({})",
    "F.gelu({})",
    "F.silu({})",
    "F.leaky_relu({}, 0.1)",
    "F.elu({})",
    "F.hardtanh({})",
    "{}.softmax(-1)",
    "F.log_softmax({}, dim=-1)",
    "{}.cumsum(0)",
    "{}.flip(0)",
    "torch.roll({}, 1, 0)",
    "{}.sort(0)[0]",
    "{}.sort(dim=0).values",
    "{}.float()",
    "{}.to(torch.float32)",
    "{}.double().float()",
    "{} + 0.5",
    "{} - 1",
    "{}.mul(0.5)",
    "torch.add({}, 1)",
    "{}.sign()",
    "{}.round()",
    "F.dropout({}, 0.5)",
    "F.dropout({}, 0.0, training=False)",
    "{}.rsqrt()",
    "{}.neg()",
    "torch.nan_to_num({})",
    "{}.logsumexp(0, keepdim=True) + {}",
    "F.layer_norm({}, {}.shape[-1:])",
    "F.normalize({}, dim=0)",
    "{}.masked_fill({} > 0.5, 0.0)",
    "{}.type(torch.float32)",
    "{}.tril()",
    "F.hardswish({})",
    "F.mish({})",
    "{}.atan()",
    "{}.cosh()",
    "{}.prod(0, keepdim=True) * {}",
    "{}.cumprod(0)",
    "{}.max(0, keepdim=True).values + {}",
    "{}.std(0, keepdim=True) + {}",
    "{}.remainder(2)",
    "{}.frac()",
    "F.relu6({})",
    "F.logsigmoid({})",
    "F.tanhshrink({})",
    "F.threshold({}, 0.1, 0.0)",
)
BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / ({} + 2)",
    "torch.maximum({}, {})",
    "torch.where({} > 0.5, {}, 0.1)",
    "torch.lerp({}, {}, 0.3)",
    "torch.addcmul({}, {}, {})",
    "{}.mul({})",
    "torch.add({}, {}, alpha=2)",
    "{}.add({}).tanh()",
    "torch.atan2({}, {})",
    "{} * {}.detach()",
    "{} + {}.detach()",
    "torch.hypot({}, {})",
    "torch.fmin({}, {})",
    "{}.sub({}).square()",
    "torch.stack([{}, {}]).sum(0)",
    "torch.stack(({}, {}), dim=0).mean(0)",
    "torch.cat([{}, {}])[: {rows}]",
    "({} - {}).abs()",
    "{} ** {}.sigmoid()",
    "torch.xlogy({}, {}.abs() + 1)",
    "torch.einsum('...i,...i->...i', {}, {})",
    "{}.where({} > 0.5, torch.zeros(()))",
    "torch.logaddexp({}, {})",
    "torch.min({}, {})",
)
WRITES = (
    "{}.add_(1)",
    "{}.mul_(2)",
    "{}.sub_(0.1)",
    "{}.div_(2)",
    "{}.zero_()",
    "{}.fill_(0.5)",
    "{}.exp_()",
    "{}.sigmoid_()",
    "{}.tanh_()",
    "{}.relu_()",
    "torch.relu_({})",
    "{}.clamp_(0, 1)",
    "{}.neg_()",
    "{}.pow_(2)",
    "{}.sin_()",
    "{}.abs_()",
    "{}.sqrt_()",
    "{} += 1",
    "{} *= 2",
    "{} -= 0.1",
    "{} /= 2",
    "{} **= 2",
    "{}[0] = 0",
    "{}[0] += 1",
    "{}[-1] *= 2",
    "{}[1:] = 0",
    "{}[{} > 0.5] = 0",
    "{}.masked_fill_({} > 0.5, 0.0)",
    "F.relu({}, inplace=True)",
    "F.leaky_relu({}, 0.1, inplace=True)",
    "F.dropout({}, 0.5, inplace=True)",
    "F.elu({}, inplace=True)",
    "{}.data.mul_(0.5)",
    "{}.data.add_(1)",
    "{}.detach().mul_(2)",
    "{}.detach().zero_()",
    "{}.view(-1).mul_(2)",
    "{}.view(-1)[0] = 1",
    "{}.reshape(-1).add_(1)",
    "{}.flatten()[0] = 2",
    "{}.normal_()",
    "{}.uniform_(0, 1)",
    "{}.clone().mul_(2)",
    "{}.index_fill_(0, torch.tensor([0]), 1.0)",
    "{}.narrow(0, 0, 1).add_(1)",
    "{}[None].mul_(2)",
    "{}.unsqueeze(0).add_(1)",
    "{}.select(0, 0).mul_(3)",
    "nn.init.uniform_({})",
    "nn.init.constant_({}, 0.1)",
    "{}.unsqueeze_(0).squeeze_(0)",
    "{}.clamp_min_(0.1)",
    "{}.requires_grad_()",
    "{}.detach_()",
    "{}.copy_(torch.rand({}.shape))",
    "{}.resize_as_({}.detach())",
    "{}.round_()",
    "{}.float().mul_(2)",
    "{}.contiguous().add_(1)",
    "{}.expand({}.shape).mul_(2)",
    "{}.cumsum_(0)",
    "{}.reciprocal_()",
    "{}.erf_()",
    "{}.lerp_(torch.ones({}.shape), 0.5)",
    "{}.bernoulli_(0.5)",
    "{}.double().zero_()",
    "{}.to(torch.float32).add_(1)",
)
WRITES_OF = (
    "{}.add_({})",
    "{}.mul_({})",
    "{}.copy_({})",
    "{} += {}",
    "{} *= {}",
    "{} -= 0.1 * {}",
    "{}[:] = {}",
    "{}[0] = {}[0]",
    "{}[0] = {}[-1] * 2",
    "{}[1:] += {}[:-1]",
    "{}.data.copy_({}.data)",
    "{}.data = {}.data.clone()",
    "{}.sub_({}, alpha=0.1)",
    "{}.addcmul_({}, {})",
    "{}.lerp_({}, 0.5)",
    "{}[...] = {}.detach()",
    "torch.add({}, 1, out={})",
    "torch.mul({}, 2, out={})",
    "{}.masked_scatter_({} > 0.5, {})",
    "{}.div_({} + 2)",
    "{}.index_copy_(0, torch.tensor([0]), {}[:1])",
    "{}.index_add_(0, torch.tensor([0]), {}[:1])",
    "{}.copy_({}.detach())",
)
SCALARS = (
    "{}.sum()",
    "{}.mean()",
    "{}.norm()",
    "{}.square().mean()",
    "({} ** 2).sum()",
    "{}.max()",
    "{}.std()",
    "{}.abs().sum()",
    "{}.logsumexp(0).sum()",
    "F.mse_loss({}, torch.zeros({}.shape))",
    "F.smooth_l1_loss({}, torch.ones({}.shape))",
    "{}.exp().mean()",
    "{}.prod()",
    "torch.linalg.norm({})",
    "{}.sum(-1).mean()",
    "{}.flatten()[0]",
    "{}.tanh().sum()",
    "torch.sum({} * {})",
    "{}.view(-1) @ {}.view(-1)",
    "{}.flatten().dot({}.flatten())",
    "F.l1_loss({}, torch.zeros_like({}))",
    "{}.var()",
    "{}.median()",
)


def filled(draft: Draft, template: str, *tensors: Tensor) -> str:
    """The template about these tensors; the last stands for what is left."""
    if "F." in template:
        draft.imports.add("import torch.nn.functional as F")
    count = template.count("{}")
    names = [t.name for t in tensors][:count]
    names += [tensors[-1].name] * (count - len(names))
    return template.replace("{rows}", str(tensors[0].shape[0] if tensors[0].shape else 1)).format(*names)


def value(draft: Draft, shape: Shape) -> str:
    """An expression of this shape over what is known."""
    first = draft.some(shape)
    if draft.chance(0.55):
        return filled(draft, draft.draw.choice(UNARY), first)
    if len(shape) == 2 and draft.chance(0.2):
        rows, columns = shape
        inner = ROWS if rows == COLUMNS else COLUMNS
        left, right = draft.some((rows, inner)), draft.some((inner, columns))
        return draft.pick(
            f"{left.name} @ {right.name}", f"torch.matmul({left.name}, {right.name})", f"{left.name}.mm({right.name})"
        )
    if len(shape) == 2 and draft.chance(0.25):
        row = draft.some(shape[1:])
        return filled(draft, draft.pick("{} + {}", "{} * {}", "{} - {}", "torch.mul({}, {})"), first, row)
    return filled(draft, draft.draw.choice(BINARY), first, draft.some(shape))


def assignment(draft: Draft, shape: Shape | None = None) -> Tensor:
    """A new variable, or an old one given a new value."""
    shape = shape or draft.some().shape or (COLUMNS,)
    expression = value(draft, shape)
    known = [t for t in draft.known(shape) if not t.leaf]
    if known and draft.chance(0.25):
        name = draft.draw.choice(known).name
    else:
        name = draft.name("h", "y", "z", "out", "hidden", "feature", "score")
    draft.say(f"{name} = {expression}")
    return draft.keep(name, shape)


def view(draft: Draft) -> None:
    """Other names for the same memory, or for a part of it."""
    base = draft.some()
    shape = base.shape
    way = draft.number(0, 15)
    name = draft.name("part", "view", "row", "alias", "block")
    if way <= 1:
        draft.say(
            f"{name} = {base.name}"
            + draft.pick(".detach()", ".data", "", ".view_as(" + base.name + ")", "[...]", "[:]")
        )
        draft.keep(name, shape)
    elif way == 2:
        draft.say(f"{name} = {base.name}" + draft.pick(".view(-1)", ".reshape(-1)", ".flatten()", ".ravel()"))
        if len(shape) == 1:
            draft.keep(name, shape)
    elif way == 3 and len(shape) == 2:
        draft.say(f"{name} = {base.name}" + draft.pick(".t()", ".T", ".transpose(0, 1)", ".permute(1, 0)", ".mT"))
        draft.keep(name, shape[::-1])
    elif way <= 5 and len(shape) == 2:
        draft.say(f"{name} = {base.name}" + draft.pick("[0]", "[-1]", ".select(0, 1)", "[1, :]"))
        draft.keep(name, shape[1:])
    elif way <= 7:
        other = draft.name("rest", "tail", "second")
        how = draft.pick(".chunk(2)", ".split([1, {}])", ".split(2)", ".tensor_split(2)")
        draft.say(f"{name}, {other} = {base.name}{how.format(shape[0] - 1 if shape else 0)}")
        if draft.chance(0.5):
            draft.say(draft.pick(f"{name}.mul_(2)", f"{other}.add_(1)", f"{name} += 1", f"{other}.zero_()"))
    elif way == 8 and len(shape) == 2:
        names = [draft.name("u") for _ in range(shape[0])]
        draft.say(f"{', '.join(names)} = {base.name}" + draft.pick(".unbind()", ".unbind(0)", ""))
        for each in names:
            draft.keep(each, shape[1:])
    elif way == 9:
        draft.say(f"{name} = {base.name}.expand(2, {', '.join(map(str, shape))})")
        if draft.chance(0.4):
            draft.say(draft.pick(f"{name}.mul_(2)", f"{name}[0] = 1", f"{name} = {name} * 2"))
    elif way == 10:
        draft.say(
            f"{name} = {base.name}"
            + draft.pick(
                ".float()",
                ".to('cpu')",
                ".cpu()",
                ".contiguous()",
                ".clone()",
                ".to(torch.float32)",
                ".double().float()",
                ".type_as(torch.ones(1))",
            )
        )
        draft.keep(name, shape)
    elif way == 11:
        draft.say(
            f"with torch.no_grad():\n{'    ' * (draft.depth + 1)}{name} = {base.name}"
            + draft.pick("[:]", ".view(" + ", ".join(map(str, shape)) + ")", " * 2", ".clone()", "")
        )
        draft.keep(name, shape)
    elif way == 12 and len(shape) == 2 and shape[0] != shape[1]:
        draft.say(f"{name} = {base.name}.diagonal()")
        if draft.chance(0.5):
            draft.say(draft.pick(f"{name}.zero_()", f"{name}.add_(1)", f"{name} += 1"))
    else:
        draft.say(
            f"{name} = {base.name}"
            + draft.pick(
                "[:1]",
                "[..., :2]",
                ".narrow(0, 0, 2)",
                "[::2]",
                "[torch.tensor([0, 1])]",
                "[[0]]",
                ".unsqueeze(0)",
                "[None]",
            )
        )
        if draft.chance(0.5):
            draft.say(draft.pick(f"{name}.mul_(2)", f"{name} *= 2", f"{name}.zero_()", f"{name} = {name} + 1"))


def write(draft: Draft) -> None:
    """Something in place, sometimes with gradients off."""
    target = draft.some()
    if draft.chance(0.35):
        template = draft.draw.choice(WRITES_OF)
        text = filled(draft, template, target, draft.some(target.shape))
        if "out=" in template:
            text = filled(draft, template, draft.some(target.shape), target)
    else:
        text = filled(draft, draft.draw.choice(WRITES), target)
    if draft.chance(0.35):
        header = draft.pick(
            "with torch.no_grad():",
            "with torch.no_grad():",
            "with torch.set_grad_enabled(False):",
            "with torch.inference_mode():",
        )
        draft.say(header, "    " + text)
    else:
        draft.say(text)


def scalar(draft: Draft, stems: tuple[str, ...] = ("loss", "total", "objective")) -> str:
    """A loss of something known."""
    source = draft.known()[-1] if draft.known() and draft.chance(0.6) else draft.some()
    expression = filled(draft, draft.draw.choice(SCALARS), source)
    if draft.chance(0.25):
        expression += " + " + filled(draft, draft.draw.choice(SCALARS), draft.some())
    name = draft.name(*stems)
    draft.say(f"{name} = {expression}")
    return name
