"""Scenes: what people do with autograd, one function each, in words drawn at random."""

from __future__ import annotations

from collections.abc import Callable

from .classes import custom_function, helper, network
from .draft import COLUMNS, ROWS, Draft
from .expressions import assignment, scalar, view, write

OPTIMIZERS = (
    "torch.optim.SGD({}, lr=0.1)",
    "torch.optim.SGD({}, lr=0.1, momentum=0.9)",
    "torch.optim.Adam({}, lr=1e-3)",
    "torch.optim.AdamW({}, 1e-3)",
    "torch.optim.RMSprop({}, lr=0.01)",
    "torch.optim.Adagrad({}, lr=0.1)",
)


def mixture(draft: Draft, least: int = 3, most: int = 10) -> None:
    """Statements about tensors, one after the other."""
    for _ in range(draft.number(least, most)):
        way = draft.draw.random()
        if way < 0.5:
            assignment(draft)
        elif way < 0.66:
            view(draft)
        elif way < 0.85:
            write(draft)
        elif way < 0.9:
            with draft.block(
                draft.pick(
                    "with torch.no_grad():",
                    "with torch.enable_grad():",
                    f"for _ in range({draft.number(1, 3)}):",
                    "if True:",
                    "for k in range(2):",
                )
            ):
                mixture(draft, 1, 2)
        elif way < 0.95:
            target = draft.some()
            name = draft.name("y", "z", "result")
            draft.say(f"{name} = {helper(draft)}({target.name})")
            draft.keep(name, target.shape)
        else:
            target = draft.some()
            name = draft.name("f", "y")
            draft.say(f"{name} = {custom_function(draft)}({target.name})")
            draft.keep(name, target.shape)


def backward(draft: Draft, loss: str) -> None:
    """Differentiate, in one of the usual ways."""
    keep = draft.pick("", "", "", "", "retain_graph=True", "retain_graph=True", "create_graph=True")
    way = draft.number(0, 9)
    if way == 0 and draft.known():
        wanted = draft.some()
        draft.say(
            f"grads = torch.autograd.grad({loss}, {draft.pick(wanted.name, f'[{wanted.name}]')}"
            f"{', ' + keep if keep else ''}{draft.pick('', ', allow_unused=True')})"
        )
    elif way == 1:
        draft.say(f"torch.autograd.backward({draft.pick(loss, f'[{loss}]')}{', ' + keep if keep else ''})")
    elif way == 2:
        draft.say(f"({loss} * 2).backward({keep})")
    elif way == 3 and not keep:
        draft.say(f"{loss}.backward(torch.tensor(1.0))")
    else:
        draft.say(f"{loss}.backward({keep})")


def algebra(draft: Draft) -> None:
    """Tensors, a loss, a backward; perhaps again."""
    for _ in range(draft.number(1, 3)):
        draft.leaf()
    draft.data()
    mixture(draft)
    loss = scalar(draft)
    if draft.chance(0.3):
        mixture(draft, 1, 3)
    backward(draft, loss)
    if draft.chance(0.4):
        mixture(draft, 0, 3)
        backward(draft, loss if draft.chance(0.4) else scalar(draft))
    if draft.chance(0.3):
        leaves = [t for t in draft.known() if t.leaf]
        for each in leaves[:2]:
            draft.say(
                draft.pick(
                    f"print({each.name}.grad)",
                    f"{each.name}.grad = None",
                    f"g = {each.name}.grad",
                    f"if {each.name}.grad is not None:\n    {each.name}.data -= 0.1 * {each.name}.grad"
                    if draft.depth == 0
                    else "pass",
                )
            )


def optimizer_of(draft: Draft, net: str) -> str:
    way = draft.number(0, 6)
    if way == 0:
        over = f"[{{'params': {net}.parameters(), 'lr': 0.1}}]"
    elif way == 1:
        over = f"[p for p in {net}.parameters() if p.requires_grad]"
    elif way == 2:
        over = f"filter(lambda p: p.requires_grad, {net}.parameters())"
    elif way == 3:
        over = f"list({net}.parameters())"
    else:
        over = f"{net}.parameters()"
    return draft.draw.choice(OPTIMIZERS).format(over)


def batch(draft: Draft, size: int = COLUMNS) -> str:
    name = draft.name("x", "inputs", "batch")
    draft.say(f"{name} = torch.randn({ROWS}, {size})")
    return name


def training(draft: Draft) -> None:
    """A training loop, with what people do inside one."""
    net, opt = draft.name("net", "model"), draft.name("optimizer", "opt")
    draft.say(f"{net} = {network(draft).made}")
    draft.say(f"{opt} = {optimizer_of(draft, net)}")
    x = batch(draft)
    target = draft.name("target", "labels")
    kind = draft.number(0, 2)
    draft.say(f"{target} = " + ("torch.randint(0, 4, (3,))" if kind == 0 else "torch.rand(3, 4)"))
    criterion = "F.cross_entropy" if kind == 0 else "F.mse_loss" if kind == 1 else "F.binary_cross_entropy_with_logits"
    draft.imports.add("import torch.nn.functional as F")
    if draft.chance(0.4):
        criterion_name = draft.name("criterion", "loss_fn")
        draft.say(
            f"{criterion_name} = "
            + {"F.cross_entropy": "nn.CrossEntropyLoss()", "F.mse_loss": "nn.MSELoss()"}.get(
                criterion, "nn.BCEWithLogitsLoss()"
            )
        )
        criterion = criterion_name
    carried = draft.pick(
        "",
        "",
        "total = 0.0",
        "losses = []",
        "state = torch.zeros(3, 4)",
        "memory = None",
        "history = {}",
        "ema = torch.zeros(())",
        "previous = None",
    )
    if carried:
        draft.say(carried)
    if draft.chance(0.3):
        if draft.chance(0.5):
            draft.say(f"fixed = {net}({x})")
            extra = f" + 0.1 * fixed.{draft.pick('mean', 'sum', 'std')}()"
        else:
            draft.say(
                f"penalty = sum(p.{draft.pick('square()', 'abs()', 'detach().square()')}.sum() "
                f"for p in {net}.parameters())"
            )
            extra = " + 0.01 * penalty"
    else:
        extra = ""
    loop = draft.pick(
        "for step in range(2):",
        "for epoch in range(3):",
        "for epoch in range(2):",
        "for i, scale in enumerate([1.0, 0.5]):",
    )
    with draft.block(loop):
        zero = draft.pick(f"{opt}.zero_grad()", f"{net}.zero_grad()", f"{opt}.zero_grad(set_to_none=False)", "pass")
        first = draft.chance(0.7)
        if first:
            draft.say(zero)
        draft.say(f"output = {net}({draft.pick(x, x, f'{x} * 2', f'{x}.clone()', f'{x}.detach()')})")
        if "state" in carried:
            draft.say(
                draft.pick(
                    "state = torch.tanh(state + output)",
                    "state = state + output.detach()",
                    "state = 0.9 * state.detach() + output",
                    "state += output.detach()",
                )
            )
            draft.say("output = output * state")
        if draft.chance(0.25):
            draft.say(
                draft.pick(
                    "output += 1",
                    "output.mul_(2)",
                    "output = output.clamp(-1, 1)",
                    f"{x} += 0.1",
                    f"{x}.normal_()",
                    f"{x}.add_(output.detach())",
                    "output[0] = 0",
                    f"{target} = {target}.clone()",
                )
            )
        draft.say(f"loss = {criterion}(output, {target}){extra}")
        if "memory" in carried:
            draft.say(
                "if memory is not None:",
                f"    loss = loss + (output * memory{draft.pick('', '.detach()')}).mean()",
                f"memory = output{draft.pick('', '.detach()', '.clone()')}",
            )
        if "previous" in carried:
            draft.say(
                "if previous is not None:",
                "    loss = loss + (loss - previous).abs()",
                f"previous = loss{draft.pick('', '.detach()', '.item()')}",
            )
        if draft.chance(0.25):
            draft.say(
                draft.pick(
                    f"{x}.mul_(0.9)",
                    f"{net}.zero_grad()",
                    "print(loss.item())",
                    f"with torch.no_grad():\n        for p in {net}.parameters():\n            p.mul_(0.99)"
                    if draft.depth == 1
                    else "pass",
                    "output.zero_()",
                    "loss.detach_()" if draft.chance(0.2) else "loss = loss * 2",
                )
            )
        draft.say(f"loss.backward({draft.pick('', '', '', 'retain_graph=True')})")
        if "ema" in carried:
            draft.say(
                f"ema = 0.9 * ema + 0.1 * loss{draft.pick('', '.detach()', '.item()')}",
                draft.pick(
                    "print(ema)",
                    "(ema * 2).backward()"
                    if draft.chance(0.3)
                    else "ema.item()"
                    if draft.chance(0.5)
                    else "print(float(ema))",
                ),
            )
        if draft.chance(0.3):
            draft.say(
                draft.pick(
                    f"torch.nn.utils.clip_grad_norm_({net}.parameters(), 1.0)",
                    f"for p in {net}.parameters():\n        p.grad.clamp_(-1, 1)" if draft.depth == 1 else "pass",
                    "print(loss)",
                    f"norm = sum(p.grad.norm() for p in {net}.parameters())",
                )
            )
        draft.say(f"{opt}.step()")
        if not first:
            draft.say(zero)
        if "total" in carried:
            draft.say(draft.pick("total += loss.item()", "total += loss", "total = total + loss.detach()"))
        if "losses" in carried:
            draft.say(draft.pick("losses.append(loss)", "losses.append(loss.item())", "losses.append(loss.detach())"))
        if "history" in carried:
            draft.say(
                draft.pick("history[len(history)] = output", "history.setdefault('loss', []).append(loss.detach())")
            )
        if draft.chance(0.2):
            draft.say(
                draft.pick(
                    "loss.backward()",
                    "output.sum().backward()",
                    f"{net}({x}).sum().backward()",
                    "second = loss + 1",
                    f"probs = {net}({x}).softmax(-1)",
                )
            )
    if "losses" in carried:
        draft.say(
            draft.pick(
                "print(sum(losses))",
                "torch.tensor([float(v) for v in losses])",
                "sum(losses).backward()" if draft.chance(0.4) else "print(len(losses))",
                "mean = sum(losses) / len(losses)",
            )
        )
    if "total" in carried:
        draft.say(draft.pick("print(total)", "total.backward()" if draft.chance(0.3) else "print(float(total))"))


def adversarial(draft: Draft) -> None:
    """A generator, a critic, and the order of their steps."""
    g, d = draft.name("generator", "G"), draft.name("critic", "D")
    draft.say(f"{g} = {network(draft, 4, 4).made}", f"{d} = {network(draft, 4, 1).made}")
    og, od = draft.name("opt_g"), draft.name("opt_d")
    draft.say(f"{og} = {optimizer_of(draft, g)}", f"{od} = {optimizer_of(draft, d)}")
    loop = draft.chance(0.6)
    header = "for step in range(2):" if loop else "if True:"
    with draft.block(header):
        draft.say("noise = torch.randn(3, 4)", f"fake = {g}(noise)")
        first = draft.chance(0.6)
        critic = [
            f"{od}.zero_grad()",
            f"loss_d = {d}(fake{draft.pick('', '.detach()', '.detach()')}).mean() - {d}(torch.randn(3, 4)).mean()",
            f"loss_d.backward({draft.pick('', '', 'retain_graph=True')})",
            f"{od}.step()",
        ]
        again = draft.chance(0.6)
        actor = [
            f"{og}.zero_grad()",
            f"loss_g = -{d}(fake).mean()" if again else "loss_g = -score.mean()",
            "loss_g.backward()",
            f"{og}.step()",
        ]
        if not again:
            draft.say(f"score = {d}(fake)")
        for lines in (critic, actor) if first else (actor, critic):
            draft.say(*lines)


def recurrent(draft: Draft) -> None:
    """State carried from step to step."""
    cell = draft.pick(
        "nn.RNNCell(4, 4)", "nn.GRUCell(4, 4)", "nn.LSTMCell(4, 4)", "nn.Linear(4, 4)", "nn.GRU(4, 4)", "nn.LSTM(4, 4)"
    )
    net = draft.name("cell", "rnn")
    draft.say(f"{net} = {cell}")
    pair = "LSTM" in cell
    whole = cell.startswith(("nn.GRU(", "nn.LSTM("))
    zeros = "torch.zeros(1, 3, 4)" if whole else "torch.zeros(3, 4)"
    draft.say(f"h = {zeros}", *([f"c = {zeros}"] if pair else []))
    opt = draft.name("opt") if draft.chance(0.6) else ""
    if opt:
        draft.say(f"{opt} = {optimizer_of(draft, net)}")
    learnt = draft.chance(0.2)
    if learnt:
        draft.say("h = h.requires_grad_()")
    detached = draft.chance(0.5)
    place = draft.chance(0.5)
    with draft.block("for t in range(3):"):
        if detached and place:
            draft.say(
                draft.pick("h = h.detach()", "h = h.data", "h.detach_()" if not learnt else "h = h.detach()"),
                *(["c = c.detach()"] if pair and draft.chance(0.85) else []),
            )
        draft.say("x = torch.randn(2, 3, 4)" if whole else "x = torch.randn(3, 4)")
        if whole:
            draft.say(f"out, (h, c) = {net}(x, (h, c))" if pair else f"out, h = {net}(x, h)")
        elif pair:
            draft.say(f"h, c = {net}(x, (h, c))", "out = h")
        elif "Linear" in cell:
            draft.say(
                draft.pick(f"h = torch.tanh({net}(x) + h)", f"h = {net}(h) + x", f"h = {net}(x * h)", f"h += {net}(x)"),
                "out = h",
            )
        else:
            draft.say(f"h = {net}(x, h)", "out = h")
        draft.say(draft.pick("loss = out.square().mean()", "loss = out.sum()", "loss = (out - 1).abs().mean()"))
        if opt:
            draft.say(f"{opt}.zero_grad()")
        draft.say(f"loss.backward({draft.pick('', '', 'retain_graph=True')})")
        if opt:
            draft.say(f"{opt}.step()")
        if detached and not place:
            draft.say("h = h.detach()", *(["c = c.detach()"] if pair and draft.chance(0.85) else []))


SCENES: list[Callable[[Draft], None]] = [algebra, algebra, algebra, training, training, adversarial, recurrent]
