"""Scenes about what is kept: containers, modes, arrays, leaves, copies of networks."""

from __future__ import annotations

from .classes import network
from .draft import COLUMNS, ROWS, Draft
from .expressions import UNARY, filled, scalar, value
from .scenes import backward, batch, optimizer_of


def containers(draft: Draft) -> None:
    """Lists, dictionaries, tuples and deques of tensors."""
    x = draft.leaf((ROWS, COLUMNS))
    way = draft.number(0, 6)
    step = filled(draft, draft.draw.choice(UNARY), x)
    if way == 0:
        draft.say("outs = []")
        with draft.block("for k in range(3):"):
            draft.say(f"y = {step} * (k + 1)", "outs.append(y)")
            if draft.chance(0.4):
                draft.say(draft.pick("y += 1", "y.relu_()", "outs[0] = outs[0] * 2", "outs[-1].exp_()"))
        draft.say(
            f"z = torch.{draft.pick('stack', 'cat')}(outs)",
            draft.pick("outs[0].mul_(2)", "outs.clear()", "z.tanh_()", "pass"),
        )
        draft.say("z.square().sum().backward()")
    elif way == 1:
        draft.say(
            f"state = {{'a': {x.name}, 'b': {step}}}",
            draft.pick(
                "state['b'] = state['b'].tanh()",
                "state['b'] *= 2",
                "state['a'] = state['a'] + 1",
                "state['b'].exp_()",
                "state['a'].add_(1)",
            ),
        )
        draft.say(
            f"loss = sum(v.{draft.pick('sum', 'exp().mean', 'square().sum')}() for v in state.values())",
            "loss.backward()",
        )
        if draft.chance(0.4):
            draft.say(
                draft.pick("state['b'].sum().backward()", "loss.backward()", "(state['a'] ** 2).sum().backward()")
            )
    elif way == 2:
        draft.imports.add("from collections import deque")
        draft.say(f"window = deque(maxlen={draft.number(1, 3)})")
        with draft.block("for k in range(3):"):
            draft.say(
                f"window.append({step} + k)",
                f"loss = sum(window).{draft.pick('sum', 'square().mean', 'tanh().sum')}()",
                f"loss.backward({draft.pick('', '', 'retain_graph=True')})",
            )
    elif way == 3:
        draft.say(
            f"a, b = {step}, {x.name} * 3",
            draft.pick("a, b = b, a", "b += a", "a.copy_(b)", "a, *rest = (b, a)"),
            "loss = (a * b).sum()",
            draft.pick("a.zero_()", "b = b * 0", "b.zero_()", "pass"),
            "loss.backward()",
        )
    elif way == 4:
        draft.say("cache = torch.zeros(3, 3, 4)")
        with draft.block("for t in range(3):"):
            draft.say(
                f"cache[t] = {step} * t",
                draft.pick(
                    "y = cache[: t + 1].square().sum()",
                    "y = cache[t].exp().sum()",
                    "y = cache.mean()",
                    "y = (cache[:t].sum() + 1) * cache[t].sum()",
                ),
            )
        draft.say("y.backward()")
    elif way == 5:
        draft.say(f"losses = [({x.name} * k).{draft.pick('sum', 'exp().sum', 'square().mean')}() for k in range(1, 4)]")
        draft.say(
            draft.pick(
                "for each in losses:\n" + "    " * (draft.depth + 1) + "each.backward()",
                "sum(losses).backward()",
                "torch.stack(losses).mean().backward()",
                "torch.autograd.backward(losses)",
            )
        )
        if draft.chance(0.4):
            draft.say(draft.pick("losses[0].backward()", "sum(losses).backward()", "losses[-1].detach_()"))
    else:
        draft.say(
            f"shared = {step}",
            f"first, second = shared.{draft.pick('sum', 'mean')}(), (shared * shared).sum()",
            f"first.backward({draft.pick('', 'retain_graph=True')})",
            "second.backward()",
        )


def modes(draft: Draft) -> None:
    """Gradients off and on again."""
    x = draft.leaf()
    header = draft.pick(
        "with torch.no_grad():",
        "with torch.inference_mode():",
        "with torch.set_grad_enabled(False):",
        "with torch.enable_grad():",
        "with torch.autograd.set_grad_enabled(True):",
        "with torch.autograd.no_grad():",
    )
    with draft.block(header):
        inner = filled(draft, draft.draw.choice(UNARY), x)
        draft.say(f"y = {inner}")
        if draft.chance(0.3):
            draft.say(
                draft.pick(
                    "with torch.enable_grad():\n" + "    " * (draft.depth + 1) + f"y = y + {x.name}",
                    "y += 1",
                    f"{x.name}.mul_(2)",
                    "y.requires_grad_()" if "inference" not in header else "y = y * 2",
                )
            )
    draft.keep("y", x.shape)
    if draft.chance(0.2):
        draft.say(
            draft.pick(
                "torch.set_grad_enabled(False)",
                "torch.set_grad_enabled(True)",
                "y = y.clone()",
                "y = y.detach().requires_grad_()" if "inference" not in header else "y = y.clone()",
            )
        )
    w = draft.leaf(x.shape) if draft.chance(0.7) else x
    draft.say(
        draft.pick(
            f"z = y * {w.name}",
            f"z = y + {w.name}",
            f"z = {w.name} - y.exp()",
            "z = y * 2",
            f"z = torch.where(y > 0, y, {w.name})",
            f"y.add_({w.name})\n" + "    " * draft.depth + "z = y",
            f"z = y / ({w.name} + 2)",
        )
    )
    draft.keep("z", x.shape)
    backward(draft, scalar(draft))
    draft.say("torch.set_grad_enabled(True)")


def arrays(draft: Draft) -> None:
    """NumPy's side of a tensor, plain numbers, copies."""
    draft.imports.add("import numpy as np")
    x = draft.leaf((ROWS, COLUMNS))
    draft.say(f"y = {value(draft, x.shape)}")
    draft.keep("y", x.shape)
    way = draft.number(0, 7)
    if way == 0:
        draft.say(
            f"arr = {draft.pick('y', x.name)}"
            f"{draft.pick('', '.detach()', '.data', '.clone().detach()', '.detach().clone()')}.numpy()"
        )
        draft.say(draft.pick("arr += 1", "arr[0] = 0", "top = arr.max()", "arr = arr * 2"))
    elif way == 1:
        draft.say(
            f"v = np.{draft.pick('mean', 'sum', 'asarray', 'array')}({draft.pick('y', 'y.detach()', 'y.tolist()')})"
        )
    elif way == 2:
        draft.say(
            f"v = torch.tensor({draft.pick('y.sum().item()', 'float(y.mean())', '[1.0, 2.0]')}"
            f"{draft.pick('', ', requires_grad=True')})"
        )
        draft.say(f"loss = (v * {draft.pick('v', '2', 'y.sum()')}).sum()", "loss.backward()")
        return
    elif way == 3:
        draft.imports.add("import copy")
        draft.say(
            f"z = copy.{draft.pick('deepcopy', 'deepcopy', 'copy')}"
            f"({draft.pick('y', x.name, 'y.detach()', f'[{x.name}]', 'dict(a=y)')})"
        )
    elif way == 4:
        draft.say(
            "arr = np.ones((3, 4), dtype=np.float32)",
            "t = torch.from_numpy(arr)",
            draft.pick(f"z = t * {x.name}", f"z = t + {x.name}"),
            draft.pick("arr *= 2", "t *= 2", "t.zero_()", "pass"),
            "z.sum().backward()",
        )
        return
    elif way == 5:
        draft.say(
            f"k = y.{draft.pick('argmax()', 'long()', 'int().sum()', 'round().long()')}",
            f"flag = (y > 0).{draft.pick('float()', 'any()', 'sum()')}",
            draft.pick("flag.backward()" if draft.chance(0.3) else "pass", "k = k + 1", "pass"),
        )
    elif way == 6:
        draft.say(
            f"n = torch.arange(4{draft.pick('', '.0', ', dtype=torch.float32')})",
            f"z = {x.name} * n",
            draft.pick("n += 1", "n.mul_(2)", "n = n + 1"),
            "z.sum().backward()",
        )
        return
    else:
        draft.say(
            "n = torch.arange(4)",
            draft.pick(
                "n.requires_grad_()",
                "n = n.float().requires_grad_()",
                "n = n.to(torch.float64)",
                "n = n.double().requires_grad_(True)",
            ),
            f"z = {x.name} * n",
            "z.sum().backward()",
        )
        return
    backward(draft, scalar(draft))


def leaves(draft: Draft) -> None:
    """Descent by hand."""
    w = draft.leaf()
    x = draft.data(w.shape)
    if draft.chance(0.3):
        draft.say(f"{w.name}.grad = torch.zeros_like({w.name})")
    with draft.block("for step in range(2):"):
        draft.say(
            "loss = ("
            + draft.pick(
                f"{w.name} * {x.name}", f"{w.name} - {x.name}", f"{w.name}.tanh()", f"{w.name}.exp() * {x.name}"
            )
            + f").{draft.pick('sum', 'square().mean', 'norm')}()"
        )
        draft.say(f"loss.backward({draft.pick('', '', 'retain_graph=True', 'create_graph=True')})")
        way = draft.number(0, 7)
        if way <= 2:
            draft.say(
                "with torch.no_grad():",
                f"    {w.name} -= 0.1 * {w.name}.grad",
                f"    {w.name}.grad" + draft.pick(".zero_()", " = None", ".fill_(0)"),
            )
        elif way == 3:
            draft.say(
                f"{w.name}.data -= 0.1 * {w.name}.grad{draft.pick('', '.data')}",
                f"{w.name}.grad{draft.pick('.zero_()', ' = None', '.data.zero_()')}",
            )
        elif way == 4:
            draft.say(f"{w.name} -= 0.1 * {w.name}.grad")
        elif way == 5:
            draft.say(f"{w.name} = ({w.name} - 0.1 * {w.name}.grad).detach().requires_grad_()")
        elif way == 6:
            draft.say(
                "with torch.no_grad():",
                f"    {w.name} = {w.name} - 0.1 * {w.name}.grad",
                *([f"{w.name}.requires_grad_()"] if draft.chance(0.5) else []),
            )
        else:
            draft.say(f"{w.name}.data.copy_({w.name} - 0.1 * {w.name}.grad)", f"{w.name}.grad.detach_().zero_()")
        if draft.chance(0.2):
            draft.say(
                draft.pick(
                    "loss.backward()",
                    f"{x.name} += 1",
                    f"{x.name}.mul_(0.5)",
                    f"{w.name}.requires_grad = False" if draft.chance(0.3) else "pass",
                )
            )


def functional(draft: Draft) -> None:
    """`functional_call`, inner steps, target networks, frozen parts."""
    net, x = draft.name("net", "model"), batch(draft)
    made = network(draft)
    draft.say(f"{net} = {made.made}")
    way = draft.number(0, 4)
    if way <= 1:
        draft.imports.add("from torch.func import functional_call")
        source = draft.pick(
            f"dict({net}.named_parameters())",
            f"{{k: v.clone() for k, v in {net}.named_parameters()}}",
            f"{{k: v.detach() for k, v in {net}.named_parameters()}}",
        )
        draft.say(f"params = {source}")
        with draft.block(f"for _ in range({draft.number(1, 2)}):"):
            draft.say(f"loss = functional_call({net}, params, ({x},)).square().mean()")
            graph = draft.pick(", create_graph=True", "", ", create_graph=True")
            if draft.chance(0.7):
                draft.say(
                    f"grads = torch.autograd.grad(loss, list(params.values()){graph})",
                    "params = {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads)}",
                )
            else:
                draft.say(f"loss.backward({draft.pick('', 'retain_graph=True')})")
        draft.say(f"outer = functional_call({net}, params, ({x},)).mean()", "outer.backward()")
    elif way == 2:
        draft.imports.add("import copy")
        draft.say(
            f"target_net = copy.deepcopy({net})",
            draft.pick(
                "target_net.requires_grad_(False)",
                "target_net.eval()",
                "for p in target_net.parameters():\n" + "    " * (draft.depth + 1) + "p.requires_grad = False",
            ),
        )
        draft.say(f"loss = F.mse_loss({net}({x}), target_net({x}){draft.pick('', '.detach()')})", "loss.backward()")
        draft.imports.add("import torch.nn.functional as F")
        with draft.block(f"for p, q in zip({net}.parameters(), target_net.parameters()):"):
            draft.say(
                draft.pick(
                    "q.data.lerp_(p.data, 0.1)",
                    "q.mul_(0.9).add_(p.detach(), alpha=0.1)",
                    "q.data = 0.9 * q.data + 0.1 * p.data",
                    "q.copy_(p)",
                    "with torch.no_grad():\n" + "    " * (draft.depth + 1) + "q.mul_(0.9).add_(p, alpha=0.1)",
                )
            )
        if draft.chance(0.5):
            draft.say(
                draft.pick("loss.backward()", f"{net}({x}).sum().backward()", f"target_net({x}).sum().backward()")
            )
    elif way == 3:
        weight = f"{net}[0].weight" if made.weight.startswith("0.") else f"{net}.{made.weight}"
        draft.say(
            f"out = {net}({x})",
            draft.pick(
                f"{weight}.data.mul_(0.5)",
                f"with torch.no_grad():\n{'    ' * (draft.depth + 1)}{weight}.mul_(0.5)",
                f"{weight}.mul_(0.5)",
                f"nn.init.zeros_({weight})",
                f"{weight} = nn.Parameter({weight} * 2)",
                f"{weight}.requires_grad_(False)",
                f"{net}.load_state_dict({net}.state_dict())",
                f"saved = {weight}.detach().clone()",
            ),
        )
        draft.say("out.sum().backward()" if draft.chance(0.7) else f"(out + {net}({x})).square().mean().backward()")
    else:
        draft.say(
            f"opt = {optimizer_of(draft, net)}",
            f"before = {net}({x})",
            f"loss = before.{draft.pick('sum', 'square().mean')}()",
            f"loss.backward({draft.pick('', 'retain_graph=True')})",
            "opt.step()",
        )
        draft.say(
            draft.pick(
                f"after = {net}({x})\n"
                + "    " * draft.depth
                + f"(after - before{draft.pick('', '.detach()')}).square().mean().backward()",
                "loss.backward()",
                f"{net}({x}).sum().backward()",
                "before.mean().backward()",
            )
        )
