"""Scenes about what runs elsewhere: higher derivatives, checkpoints, hooks, closures."""

from __future__ import annotations

from .classes import helper, network
from .draft import COLUMNS, ROWS, Draft
from .expressions import UNARY, filled, scalar, value, write
from .scenes import backward, batch, mixture


def derivatives(draft: Draft) -> None:
    """Gradients of gradients: penalties, Hessians, Newton steps."""
    x, w = draft.leaf(), draft.leaf()
    for _ in range(draft.number(0, 2)):
        expression = value(draft, x.shape)
        draft.say(f"y = {expression}")
        draft.keep("y", x.shape)
    loss = scalar(draft, ("y0", "energy", "loss"))
    graph = draft.pick(", create_graph=True", ", create_graph=True", ", retain_graph=True", "")
    unused = draft.pick("", "", ", allow_unused=True", ", materialize_grads=True")
    way = draft.number(0, 3)
    if way == 0:
        draft.say(f"(g,) = torch.autograd.grad({loss}, {x.name}{graph}{unused})")
    elif way == 1:
        draft.say(f"g = torch.autograd.grad({loss}, [{x.name}]{graph}{unused})[0]")
    elif way == 2:
        draft.say(f"g, gw = torch.autograd.grad({loss}, ({x.name}, {w.name}){graph}{unused})")
    else:
        draft.say(f"{loss}.backward({graph.removeprefix(', ')})", f"g = {x.name}.grad")
    after = draft.number(0, 4)
    if after == 0:
        draft.say("penalty = g.square().sum()", "penalty.backward()")
    elif after == 1:
        draft.say(f"total = {loss} + (g.norm() - 1) ** 2", "total.backward()")
    elif after == 2:
        draft.say(
            "h = torch.autograd.grad(g.sum(), "
            + x.name
            + draft.pick("", ", retain_graph=True", ", allow_unused=True")
            + ")"
        )
    elif after == 3:
        draft.say(
            f"with torch.no_grad():\n{'    ' * (draft.depth + 1)}{x.name} {draft.pick('-=', '+=')} 0.1 * g",
            f"{loss}.backward()",
        )
    else:
        draft.say(
            f"{x.name}_new = {x.name} - 0.1 * g{draft.pick('', '.detach()')}", f"({x.name}_new ** 2).sum().backward()"
        )


def checkpointing(draft: Draft) -> None:
    """Parts of a network that run again in backward."""
    draft.imports.add("from torch.utils.checkpoint import checkpoint")
    x = draft.leaf((ROWS, COLUMNS))
    made = draft.pick("", network(draft).made)
    function = draft.name("block", "segment")
    draft.say(f"{function} = {made or helper(draft)}")
    draft.say(
        f"y = checkpoint({function}, {draft.pick(x.name, f'{x.name} * 2')}, "
        f"use_reentrant={draft.pick('False', 'False', 'True')})"
    )
    draft.keep("y", x.shape)
    mixture(draft, 0, 2)
    loss = scalar(draft)
    backward(draft, loss)
    if draft.chance(0.3):
        draft.say(f"{loss}.backward()")


def hooks(draft: Draft) -> None:
    """Hooks of tensors and of Modules."""
    way = draft.number(0, 5)
    if way <= 1:
        x = draft.leaf()
        if draft.chance(0.2):
            x = draft.data()
        draft.say(f"h = {filled(draft, draft.draw.choice(UNARY), x)}")
        draft.keep("h", x.shape)
        target = draft.pick("h", x.name)
        hook = draft.pick("lambda g: g * 2", "lambda g: None", "print", "lambda g: g.clamp(-1, 1)", "seen.append")
        if hook == "seen.append":
            draft.say("seen = []")
        draft.say(f"handle = {target}.register_hook({hook})")
        if draft.chance(0.3):
            draft.say("h.retain_grad()")
        if draft.chance(0.3):
            write(draft)
        backward(draft, scalar(draft))
        if draft.chance(0.3):
            draft.say("handle.remove()")
        return
    net, x = draft.name("net", "model"), batch(draft)
    draft.say(f"{net} = {network(draft).made}")
    if way == 2:
        draft.say(
            "features = {}",
            f"{net}.register_forward_hook(lambda m, args, out: features.update(last=out{draft.pick('', '.detach()')}))",
        )
        draft.say(f"out = {net}({x})", f"loss = features['last'].{draft.pick('sum', 'mean')}()", "loss.backward()")
        if draft.chance(0.4):
            draft.say(draft.pick("out.sum().backward()", "features['last'].zero_()", "(out * 2).mean().backward()"))
    elif way == 3:
        with draft.block("def hook(module, args, output):"):
            draft.say(
                draft.pick(
                    "return output * 2",
                    "output.mul_(2)",
                    "return output.detach()",
                    "pass",
                    "output[:, 0] = 0",
                    "return output.clone().zero_()",
                )
            )
        draft.say(
            f"handle = {net}.register_forward_hook(hook)", f"loss = {net}({x}).square().mean()", "loss.backward()"
        )
        if draft.chance(0.4):
            draft.say("handle.remove()", f"{net}({x}).sum().backward()")
    elif way == 4:
        with draft.block("def before(module, args):"):
            draft.say(draft.pick("return (args[0] * 2,)", "pass", "args[0].mul_(2)", "return (args[0].detach(),)"))
        draft.say(
            f"{net}.register_forward_pre_hook(before)",
            f"{x}.requires_grad_()" if draft.chance(0.5) else "pass",
            f"{net}({x}).sum().backward()",
        )
    else:
        draft.say(
            f"{net}.register_full_backward_hook(lambda m, gin, gout: "
            f"{draft.pick('None', 'gin', 'tuple(g * 2 if g is not None else None for g in gin)')})"
        )
        if draft.chance(0.5):
            draft.say(f"{x}.requires_grad_()")
        draft.say(
            f"out = {net}({x})",
            draft.pick(
                "out.mul_(2)", "out = out * 2", "pass", f"with torch.no_grad():\n{'    ' * (draft.depth + 1)}pass"
            ),
            "out.sum().backward()",
        )


def closures(draft: Draft) -> None:
    """`step(closure)`, generators of parameters, parameter groups."""
    net, x = draft.name("net", "model"), batch(draft)
    draft.say(f"{net} = {network(draft).made}")
    way = draft.number(0, 4)
    if way <= 1:
        opt = draft.pick(
            "torch.optim.LBFGS({}.parameters(), max_iter=3)",
            "torch.optim.SGD({}.parameters(), lr=0.1)",
            "torch.optim.LBFGS({}.parameters(), lr=0.5)",
        ).format(net)
        draft.say(f"opt = {opt}")
        outside = draft.chance(0.35)
        if outside:
            draft.say(f"out = {net}({x})")
        with draft.block("def closure():"):
            draft.say("opt.zero_grad()")
            if not outside:
                draft.say(f"out = {net}({x})")
            draft.say(
                "loss = (out ** 2).mean()", f"loss.backward({draft.pick('', '', 'retain_graph=True')})", "return loss"
            )
        if draft.chance(0.5):
            draft.say("opt.step(closure)")
        else:
            with draft.block("for _ in range(2):"):
                draft.say("loss = opt.step(closure)")
    elif way == 2:
        generator = draft.pick(
            f"{net}.parameters()",
            f"(p for p in {net}.parameters())",
            f"filter(lambda p: p.requires_grad, {net}.parameters())",
            f"list({net}.parameters())",
        )
        draft.say(
            f"params = {generator}",
            draft.pick(
                "count = sum(p.numel() for p in params)",
                "pass",
                "for p in params:\n" + "    " * (draft.depth + 1) + "nn.init.normal_(p)",
            ),
        )
        draft.say("opt = torch.optim.SGD(params, lr=0.1)", f"{net}({x}).sum().backward()", "opt.step()")
    elif way == 3:
        draft.say(
            f"for p in {net}.parameters():",
            "    p.requires_grad = False" if draft.chance(0.5) else "    p.requires_grad_(False)",
        )
        draft.say("head = nn.Linear(4, 4)" if draft.chance(0.6) else "head = nn.Identity()")
        draft.say(
            f"opt = torch.optim.SGD([p for p in [*{net}.parameters(), *head.parameters()] if p.requires_grad], lr=0.1)"
            if draft.chance(0.6)
            else f"opt = torch.optim.SGD({net}.parameters(), lr=0.1)"
        )
        draft.say(f"loss = head({net}({x})).mean()", "loss.backward()", "opt.step()")
    else:
        w = draft.leaf()
        made = draft.pick(
            w.name,
            f"{w.name} * 2",
            f"{w.name}.clone()",
            f"{w.name}.detach()",
            f"{w.name}.to('cpu')",
            f"{w.name}.float()",
            f"{w.name}.double()",
        )
        draft.say(
            f"v = {made}",
            f"opt = torch.optim.Adam([{draft.pick('v', w.name)}], lr=0.1)",
            "loss = (v ** 2).sum()",
            "loss.backward()",
            "opt.step()",
        )
        if draft.chance(0.5):
            draft.say(draft.pick("loss.backward()", "(v * v).sum().backward()", "opt.zero_grad()", "v.mul_(2)"))
