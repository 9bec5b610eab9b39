"""
Random programs about autograd, from a seed.

Every candidate statement is run by torch while the program grows, so that statements that fail for another reason than
autograd (shapes, dtypes) never get in. Knows Python and torch, nothing of the model: it must not avoid what the model is
bad at. Left out, because nobody can know: which `except` runs. Left out, because torch 2.13 itself crashes: a hook on a
view whose base was written since.
"""

# ruff: noqa: E501, SIM905 (tables of statements, many to a line)

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import torch
from torch import nn

from . import stateful, wide
from .oracle import FILE, HEADER, autograd_error, fresh_namespace

# How often a program may end in an error of a class: the easy ones are so frequent that little else would be left.
KEPT = {"leaf": 0.1, "leaf-view": 0.3, "no-grad-root": 0.1, "non-scalar": 0.12, "unused": 0.3, "saved": 1.0, "freed": 1.0,
        "multi-view": 1.0}  # fmt: skip
_HEADER_CODE = compile(HEADER, FILE, "exec")
_GROWS_FOR_EVER = re.compile(r"^ *for v in (\w+):\n(?:.*\n)*? +\1\.(?:append|extend)\(", re.MULTILINE)
"""A loop over a list that puts into that list."""

SHAPES = ((), (3,), (4,), (2, 3), (3, 4), (4, 4), (1, 3), (2, 3, 4), (3, 1), (1,))

LEAVES = (
    "torch.randn({shape}, requires_grad=True)", "torch.randn({shape}, requires_grad=True)",
    "torch.rand({shape}, requires_grad=True)", "torch.ones({shape}, requires_grad=True)",
    "torch.randn({shape})", "torch.zeros({shape})", "torch.rand({shape}).requires_grad_()",
    "torch.full({tuple}, 0.5, requires_grad=True)", "nn.Parameter(torch.randn({shape}))",
    "nn.Parameter(torch.ones({shape}), requires_grad=False)", "torch.tensor([1.0, 2.0, 3.0], requires_grad=True)",
    "torch.tensor(2.0, requires_grad=True)", "torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])",
    "torch.arange(4.0, requires_grad=True)", "torch.linspace(0, 1, 4)", "torch.eye(4, requires_grad=True)",
    "torch.empty({shape}).normal_()", "torch.ones_like({x})", "torch.zeros_like({x}, requires_grad=True)",
    "torch.randn_like({x})", "{x}.new_zeros({tuple})", "torch.full_like({x}, 2.0)", "{x}.detach().clone().requires_grad_()",
    "torch.tensor({x}.tolist(), requires_grad=True)", "torch.empty_like({x}).fill_(1.0)", "torch.as_tensor({x})",
)  # fmt: skip

UNARY = (
    "exp sigmoid tanh relu abs neg cos sin square sqrt reciprocal clone erf sign round floor softplus gelu silu elu "
    "leaky_relu log1p expm1 atan sinh cosh rsqrt tril triu hardtanh relu6 softsign logsigmoid selu celu mish "
    "hardswish hardsigmoid tanhshrink"
).split()

COMPUTE = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} * {y}", "{x} / {y}", "{x} ** 2", "{x} ** {y}", "{x} ** 3", "2 ** {x}",
    "{x} + 1", "{x} - 0.5", "{x} * 2", "2 * {x}", "{x} / 2", "1 / {x}", "1 - {x}", "-{x}", "{x} % 2", "abs({x})",
    "{x} @ {m}", "{x} @ {m}.t()", "torch.matmul({x}, {m})", "torch.mm({x}, {m})", "{x}.mm({m})", "torch.dot({x}, {y})",
    "torch.outer({x}, {y})", "{x}.mv({m})", "torch.bmm({x}, {m}.transpose(1, 2))", "torch.add({x}, {y})",
    "torch.add({x}, {y}, alpha=2)", "torch.mul({x}, {y})", "torch.div({x}, {y})", "torch.sub({x}, {y})", "{x}.add({y})",
    "{x}.mul({y})", "{x}.pow(2)", "torch.pow({x}, 3)", "{x}.div({y})", "torch.where({x} > 0, {x}, {y})",
    "torch.maximum({x}, {y})", "torch.minimum({x}, {y})", "torch.lerp({x}, {y}, 0.3)", "torch.addcmul({x}, {y}, {y})",
    "torch.stack([{x}, {y}])", "torch.cat([{x}, {y}])", "torch.cat(({x}, {y}), dim={d})", "torch.addmm({y}, {x}, {m})",
    "torch.einsum('ij,ij->i', {x}, {y})", "torch.einsum('ij->ji', {x})", "F.softmax({x}, dim={d})", "{x}.softmax({d})",
    "F.log_softmax({x}, dim={d})", "torch.softmax({x}, dim=-1)", "{x}.cumsum({d})", "{x}.cumprod({d})",
    "torch.clamp({x}, min=0)", "{x}.clamp(-1, 1)", "{x}.clamp_min(0.1)", "{x}.masked_fill({x} > 0, 0.0)",
    "torch.flip({x}, dims=[0])", "{x}.roll(1)", "torch.sort({x})[0]", "{x}.sort({d}).values", "{x}.topk(1)[0]",
    "F.normalize({x}, dim={d})", "F.layer_norm({x}, {x}.shape[-1:])", "F.dropout({x}, 0.5)", "F.dropout({x}, training=False)",
    "F.linear({x}, {m}.t())", "{x}.repeat(2, 1)", "{x}.repeat_interleave(2)", "torch.hypot({x}, {y})", "torch.atan2({x}, {y})",
    "({x} > 0).float()", "({x} > 0).float() * {x}", "{x}.float()", "{x}.double().float()", "{x}.to(torch.float32)",
    "{x}.clone()", "{x}.contiguous()", "{x}.argmax({d})", "{x}.lerp({y}, 0.5)", "torch.tril({x})", "{x}.norm(dim={d})",
    "F.glu({x})", "F.pad({x}, (1, 1))", "F.cosine_similarity({x}, {y}, dim={d})", "torch.logaddexp({x}, {y})",
    "F.leaky_relu({x}, 0.1)", "torch.cdist({x}, {y})", "{x}.gather({d}, torch.zeros_like({x}, dtype=torch.long))",
    "{x}.index_select(0, torch.tensor([0]))", "torch.kron({x}, {y})", "{x}.diff()", "torch.linalg.norm({x})",
    "F.prelu({x}, {y})", "{x}.cross({y}, dim=-1)", "torch.tensordot({x}, {y}, dims=1)", "{x}.masked_select({x} > 0).sum()",
    "{x}.type_as({y})", "({x} + {y}) * ({x} - {y})", "({x} * {y}).tanh()", "{x}.exp() * {y}", "torch.sigmoid({x}) * {y}",
    "{x} + {y} * {x}", "({x} - {y}) ** 2", "{x}.exp().log()", "torch.zeros_like({x}) + {x}", "{x} * {x}.detach()",
    "{x} * {x}.sum().item()", "torch.baddbmm({y}, {x}, {m})", "{x}.max({d})[0]", "{x}.min({d}).values", "{x}.median()",
    "{x}.amax({d})", "{x}.logsumexp({d})", "{x}.mean({d})", "{x}.sum({d}, keepdim=True)", "{x}.std()", "{x}.var({d})",
    "{x}.prod()",
)  # fmt: skip

REDUCE = (
    "{x}.sum()", "{x}.sum()", "{x}.mean()", "{x}.mean()", "torch.sum({x})", "torch.mean({x})", "({x} ** 2).sum()", "{x}.pow(2).mean()",
    "({x} * {y}).sum()", "({x} - {y}).abs().mean()", "F.mse_loss({x}, {y})", "F.mse_loss({x}, {y}, reduction='sum')",
    "F.mse_loss({x}, {y}, reduction='none')", "F.l1_loss({x}, {y})", "F.smooth_l1_loss({x}, {y})", "nn.MSELoss()({x}, {y})",
    "nn.L1Loss()({x}, {y})", "nn.MSELoss(reduction='none')({x}, {y})", "nn.SmoothL1Loss()({x}, {y})", "{x}.norm()", "{x}.max()", "{x}.std()",
    "F.huber_loss({x}, {y})", "{x}.logsumexp(0).sum()", "F.binary_cross_entropy_with_logits({x}, torch.rand_like({x}))",
    "F.binary_cross_entropy({x}.sigmoid(), torch.zeros_like({x}))", "F.kl_div(F.log_softmax({x}, -1), F.softmax({y}, -1))",
    "F.cross_entropy({x}, torch.zeros({x}.shape[0], dtype=torch.long))", "nn.CrossEntropyLoss()({x}, {x}.argmax(1))",
    "F.nll_loss(F.log_softmax({x}, 1), torch.tensor([0, 1]))", "torch.dot({x}.flatten(), {y}.flatten())", "{x}.sum({d})",
    "{x}.square().mean()", "{x}.abs().max()", "F.binary_cross_entropy_with_logits({x}, {y})", "({x} + {y}).sum()",
)  # fmt: skip

VIEWS = (
    "{x}.view(-1)", "{x}.view({x}.shape)", "{x}.reshape(-1)", "{x}.reshape({x}.shape)", "{x}.flatten()", "{x}.t()", "{x}.T",
    "{x}.transpose(0, 1)", "{x}.permute(1, 0)", "{x}.squeeze()", "{x}.unsqueeze(0)", "{x}.unsqueeze(-1)", "{x}.expand(2, 3)",
    "{x}.expand_as({y})", "{x}.narrow({d}, 0, 1)", "{x}.select({d}, 0)", "{x}.diagonal()", "{x}.chunk(2)[0]", "{x}.unbind()[0]",
    "{x}.split(1)[0]", "{x}[0]", "{x}[-1]", "{x}[1]", "{x}[:, 0]", "{x}[:, 1:]", "{x}[1:]", "{x}[:2]", "{x}[...]", "{x}[None]", "{x}[:]",
    "{x}[::2]", "{x}[0, 1]", "{x}[..., 0]", "{x}.view_as({y})", "{x}.swapaxes(0, 1)", "{x}.movedim(0, 1)", "torch.squeeze({x})",
    "torch.transpose({x}, 0, 1)", "torch.reshape({x}, (-1,))", "torch.flatten({x})", "{x}.unfold(0, 1, 1)", "{x}.view(1, -1)",
    "{x}.t().reshape(-1)", "{x}.t().contiguous()", "torch.unsqueeze({x}, 0)", "torch.diagonal({x})", "{x}.tensor_split(2)[0]",
    "{x}.real", "{x}.squeeze(0)", "torch.narrow({x}, 0, 0, 1)", "torch.broadcast_to({x}, (2, 3))", "{x}.ravel()", "{x}.unflatten(0, (1, -1))",
)  # fmt: skip

INDEXED = (
    "{x}[[0, 1]]", "{x}[torch.tensor([0, 1])]", "{x}[[0]]", "{x}[:, [0, 1]]", "{x}[torch.tensor(0)]", "{x}[({x} > 0)].sum()",
    "{x}[torch.tensor([True, False, True])]", "{x}[[0, 1], [1, 0]]", "{x}[torch.arange(2)]", "{x}[0][0]", "{x}[None, :, None]",
    "{x}[0:1, 0]", "{x}[torch.tensor([0, 0, 1])].sum(0)", "{x}[..., None]", "{x}[range(2)]", "{x}[(0, 1)]",
)  # fmt: skip

INPLACE = (
    "{x}.add_(1)", "{x}.add_({y})", "{x}.mul_(2)", "{x}.mul_({y})", "{x}.sub_({y})", "{x}.div_(2)", "{x}.zero_()", "{x}.fill_(0.5)",
    "{x}.copy_({y})", "{x}.clamp_(min=0)", "{x}.clamp_(-1, 1)", "{x}.relu_()", "{x}.sigmoid_()", "{x}.tanh_()", "{x}.exp_()", "{x}.neg_()",
    "{x}.sqrt_()", "{x}.pow_(2)", "{x}.abs_()", "{x}.round_()", "{x}.addcmul_({y}, {y})", "{x}.add_({y}, alpha=0.1)",
    "{x}.masked_fill_({x} > 0, 0.0)", "{x}.lerp_({y}, 0.5)", "{x}.normal_()", "{x}.uniform_()", "{x} += 1", "{x} += {y}", "{x} -= {y}",
    "{x} *= 2", "{x} *= {y}", "{x} /= 2", "{x} **= 2", "{x} -= 0.1 * {y}", "{x}[0] = 0", "{x}[0] = 1.5", "{x}[0] = {y}", "{x}[0] = {y}[0]",
    "{x}[0] += 1", "{x}[0] *= 2", "{x}[:, 0] = 0", "{x}[:, 0] += {y}", "{x}[1:] = 0", "{x}[:] = {y}", "{x}[:] = 0", "{x}[...] = {y}",
    "{x}[{x} > 0] = 0", "{x}[{x} < 0] *= 2", "{x}[[0, 1]] = 0", "{x}[torch.tensor([0])] = {y}", "{x}[[0]] += 1", "{x}[0, 1] = 2.0", "{x}[-1] -= {y}",
    "F.relu({x}, inplace=True)", "F.relu_({x})", "torch.relu_({x})", "F.leaky_relu({x}, 0.1, inplace=True)", "F.elu({x}, inplace=True)",
    "F.silu({x}, inplace=True)", "F.hardtanh({x}, inplace=True)", "F.dropout({x}, 0.5, inplace=True)", "nn.ReLU(inplace=True)({x})",
    "nn.ReLU(True)({x})", "nn.LeakyReLU(0.1, inplace=True)({x})", "torch.add({y}, 1, out={x})", "torch.mul({y}, {y}, out={x})",
    "torch.exp({y}, out={x})", "torch.sigmoid({x}, out={y})", "{x}.data.add_(1)", "{x}.data.mul_(2)", "{x}.data[0] = 1.0", "{x}.data -= 0.1 * {y}.data",
    "{x}.detach().mul_(2)", "{x}.detach().zero_()", "{x}.view(-1)[0] = 1.0", "{x}.view(-1).add_(1)", "{x}.t().mul_(2)", "{x}.unsqueeze(0).add_(1)",
    "{x}[0].zero_()", "{x}[0].add_(1)", "{x}.index_fill_(0, torch.tensor([0]), 0.0)", "{x}.index_add_(0, torch.tensor([0]), {y})",
    "{x}.scatter_({d}, torch.zeros_like({x}, dtype=torch.long), 1.0)", "{x}.index_copy_(0, torch.tensor([0]), {y})", "torch.nn.init.zeros_({x})",
    "nn.init.normal_({x})", "nn.init.constant_({x}, 0.1)", "{x}.unsqueeze_(0)", "{x}.t_()", "{x}.squeeze_()", "{x}.add_({x})", "{x}.mul_({x})",
    "{x}.sub_(0.1 * {x}.grad)", "{x}.data.sub_(0.1 * {x}.grad)", "{x}.grad.zero_()", "{x}.data.copy_({y}.data)", "{x}.add_({y}).mul_(2)",
    "{x}.chunk(2)[0].mul_(2)", "{x}.unbind()[0].zero_()", "{x}.split(1)[0].add_(1)", "{x}.diagonal().fill_(0)", "{x}.flatten()[0] = 3.0",
    "{x}.narrow(0, 0, 1).mul_(2)", "{x}.select(0, 0).add_(1)", "{x}.transpose(0, 1).add_(1)", "{x}.sign_()", "{x}.reciprocal_()", "{x}.trunc_()",
    "{x}.floor_()", "{x}.masked_scatter_({x} > 0, {y})", "{x}.erf_()", "{x}.cumsum_(0)", "{x}.tril_()", "{x}.random_()", "{x}.clamp_max_(1.0)",
    "{x}.logical_not_()", "{x}.square_()", "{x}.rsqrt_()", "{x}.addcdiv_({y}, {y})", "{x}.sin_()", "{x}.cos_()", "{x}.log_()", "{x}.hypot_({y})",
)  # fmt: skip

CUTS = (
    "{x}.detach()", "{x}.detach()", "{x}.data", "{x}.detach().clone()", "{x}.clone().detach()", "{x}.data.clone()", "torch.tensor({x}.tolist())",
    "{x}.detach().requires_grad_()", "torch.from_numpy({x}.detach().numpy())", "{x}.clone()", "torch.as_tensor({x}.detach())", "{x}.grad",
    "{x}.item()", "torch.autograd.Variable({x})",
)  # fmt: skip

FLAGS = (
    "{x}.requires_grad_()", "{x}.requires_grad_(True)", "{x}.requires_grad_(False)", "{x}.requires_grad = True", "{x}.requires_grad = False",
    "{x}.retain_grad()", "{x}.detach_()", "{x}.grad = None", "{x}.numpy()", "{x}.detach().numpy()", "copy.deepcopy({x})", "{x}.grad.zero_()",
    "{x}.data = {y}.data", "str({x}.sum())", "{x}.grad = torch.zeros_like({x})", "float({x}.sum())",
    "assert {x}.dim() >= 0", "np.asarray({x})",
)  # fmt: skip

UNPACKED = (
    ("{x}.unbind()", 0), ("{x}.chunk(2)", 2), ("{x}.split(1)", 0), ("torch.unbind({x})", 0), ("torch.chunk({x}, 2, dim={d})", 2),
    ("{x}.max({d})", 2), ("{x}.sort()", 2), ("{x}.topk(1)", 2), ("torch.split({x}, 2)", 0), ("({x}, {y})", 2), ("[{x}, {x} * 2]", 2),
    ("{x}", 0), ("({x}.exp(), {y}.tanh())", 2), ("torch.broadcast_tensors({x}, {y})", 2), ("{x}.tensor_split(2)", 2), ("{x}.std_mean()", 2),
    ("torch.var_mean({x})", 2), ("torch.meshgrid({x}, {y})", 2),
)  # fmt: skip

CONTAINERS = (
    "[{x}, {y}]", "({x}, {y})", "{{'a': {x}, 'b': {y}}}", "[{x}]", "[]", "[{x}.exp(), {y} * 2]", "{{'h': {x}}}", "list({x})", "{x}.unbind()",
    "[v * 2 for v in ({x}, {y})]", "tuple([{x}, {y}])", "dict(a={x}, b={y})", "[{x} * i for i in range(3)]", "{x}.chunk(2)",
)  # fmt: skip

FROM_LIST = (
    "{l}[0]", "{l}[-1]", "sum({l})", "torch.stack({l})", "torch.cat({l})", "torch.stack([v.sum() for v in {l}])", "{l}[0] * {l}[-1]",
    "torch.stack({l}).sum()", "sum(v.sum() for v in {l})", "torch.stack(list({l}))", "torch.cat([v.flatten() for v in {l}])",
)  # fmt: skip

ON_LIST = (
    "{l}.append({x})", "{l}.append({x} * 2)", "{l}[0].add_(1)", "{l}[0] = {x}", "{l}[0] += 1", "{l}[-1].mul_(2)", "{l}.extend([{x}, {y}])",
    "{l}.pop()", "{l}[0][0] = 1.0", "{l} = {l} + [{x}]", "for v in {l}:\n    v.add_(1)", "for v in {l}:\n    v.mul_(2)",
    "for i, v in enumerate({l}):\n    {l}[i] = v * 2", "for v in {l}:\n    v.sum().backward()", "for u, v in zip({l}, {l}):\n    u.add_(v)",
)  # fmt: skip

ACTIVATIONS = (
    "nn.ReLU()", "nn.ReLU(inplace=True)", "nn.Tanh()", "nn.Sigmoid()", "nn.GELU()", "nn.LeakyReLU(0.1)", "nn.ELU()", "nn.Softmax(dim=-1)",
    "nn.LogSoftmax(dim=-1)", "nn.SiLU()", "nn.Softplus()", "nn.Identity()", "nn.Dropout(0.1)", "nn.Hardtanh()", "nn.PReLU()", "nn.ReLU6()",
    "nn.LeakyReLU(0.1, inplace=True)", "nn.Flatten()", "nn.Mish()", "nn.SELU(inplace=True)", "nn.CELU()", "nn.Hardswish(inplace=True)",
    "nn.Dropout(0.3, inplace=True)", "nn.Tanhshrink()", "nn.LogSigmoid()",
)  # fmt: skip

BACKWARDS = (
    "{s}.backward()", "{s}.backward()", "{s}.backward()", "{s}.backward()", "{s}.sum().backward()", "{x}.sum().backward()", "{x}.mean().backward()",
    "{s}.backward(retain_graph=True)", "{s}.backward(retain_graph=True)", "{s}.backward(create_graph=True)", "{x}.backward()",
    "{x}.backward(torch.ones_like({x}))", "{x}.backward(gradient=torch.ones_like({x}))", "{x}.backward(torch.ones_like({x}), retain_graph=True)",
    "torch.autograd.backward({s})", "torch.autograd.backward([{s}, {t}])", "torch.autograd.backward({x}, torch.ones_like({x}))",
    "({s} + {t}).backward()", "({x} * {y}).sum().backward()", "{s}.backward(retain_graph=False)", "{s}.sqrt().backward()",
    "{s}.backward(inputs=[{x}])", "{x}.exp().sum().backward()", "({x} ** 2).mean().backward(retain_graph=True)", "torch.autograd.backward(({s},), retain_graph=True)",
    "{s}.backward(torch.tensor(1.0))", "{s}.backward(None, True)", "torch.autograd.backward([{x}], [torch.ones_like({x})])",
)  # fmt: skip

GRADS = (
    "torch.autograd.grad({s}, {x})", "torch.autograd.grad({s}, {x})[0]", "torch.autograd.grad({s}, [{x}, {y}])",
    "torch.autograd.grad({s}, {x}, create_graph=True)[0]", "torch.autograd.grad({s}, {x}, retain_graph=True)[0]",
    "torch.autograd.grad({s}, {x}, allow_unused=True)[0]", "torch.autograd.grad({x}.sum(), {x})[0]", "torch.autograd.grad({x}.pow(2).sum(), {x}, create_graph=True)[0]",
    "torch.autograd.grad({x}, {y}, torch.ones_like({x}))[0]", "torch.autograd.grad({x}, {y}, grad_outputs=torch.ones_like({x}), retain_graph=True)",
    "torch.autograd.grad(outputs={s}, inputs={x}, retain_graph=True, create_graph=True)[0]", "torch.autograd.grad(({x} * {y}).sum(), ({x}, {y}))",
)  # fmt: skip

STEPS = (
    "{o}.step()",
    "{o}.step()",
    "{o}.zero_grad()",
    "{o}.zero_grad()\n{s}.backward()\n{o}.step()",
    "{s}.backward()\n{o}.step()",
    "{o}.zero_grad(set_to_none=False)",
)
OPTIMIZERS = (
    "torch.optim.SGD({p}, lr=0.1)",
    "optim.SGD({p}, lr=0.1, momentum=0.9)",
    "torch.optim.Adam({p})",
    "optim.Adam({p}, lr=1e-3)",
    "optim.AdamW({p})",
    "optim.RMSprop({p})",
)

MODULES = (
    """
class {C}(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn({n}, {k}))
        self.b = nn.Parameter(torch.zeros({k}))
        self.register_buffer('h', torch.zeros({k}))

    def forward(self, x):
{body}
""",
    """
class {C}(nn.Module):
    def __init__(self, size={n}):
        super().__init__()
        self.first = nn.Linear(size, {k})
        self.act = {act}
        self.norm = nn.LayerNorm({k})
        self.w = nn.Parameter(torch.ones({k}))

    def forward(self, x):
{body}
""",
)
FORWARDS: tuple[tuple[str, ...], ...] = (
    ("h = x @ self.w", "h = x @ self.w + self.b", "h = torch.matmul(x, self.w)", "self.h = self.h + (x @ self.w).sum(0)\nh = self.h * 1",
     "h = x @ self.w\nself.h += h.detach().mean(0)", "h = torch.mm(x, self.w).add_(self.b)", "h = F.linear(x, self.w.t(), self.b)"),
    ("h = self.first(x)", "h = self.act(self.first(x))", "h = self.norm(self.first(x))", "h = self.act(self.norm(self.first(x)))",
     "h = self.first(x) * self.w", "h = F.relu(self.first(x))"),
)  # fmt: skip
FORWARD_BODY = (
    "h = torch.sigmoid(h)", "h = h.relu()", "h += self.w.sum()", "h = h * 2", "h.add_(1)", "h = F.relu(h, inplace=True)", "h = h + h.tanh()", "h *= 2",
    "h[0] = 0", "h = h.exp()", "y = h.tanh()\nh = h + y", "h = h.clone()\nh[:, 0] = 0", "h = h / h.sum(-1, keepdim=True)", "h = torch.softmax(h, -1)",
    "with torch.no_grad():\n    self.w.mul_(0.9)", "y = h.sigmoid()\ny += 1\nh = h * y", "for i in range(2):\n    h = h.tanh() * self.w.sum()",
    "if self.training:\n    h = h * 1.5", "r = h\nh = F.relu(h)\nh += r", "h = h.view(h.shape)\nh.mul_(2)",
)  # fmt: skip


class Programs:
    """Makes one program."""

    def __init__(self, seed: int, *, rare: bool = False) -> None:
        self.random = random.Random(seed)
        self.rare = rare
        self.chunks: list[str] = []
        self.codes: list[CodeType] = []
        self.namespace = self._rebuilt()
        self.counter = 0

    # -- the program so far

    def _rebuilt(self) -> dict[str, Any]:
        namespace = fresh_namespace()
        exec(_HEADER_CODE, namespace)
        for code in self.codes:
            exec(code, namespace)
        return namespace

    def text(self) -> str:
        """The program."""
        return HEADER + "".join(self.chunks)

    def generate(self) -> str:
        """A program of 6 to 20 statements; shorter if an autograd error ends it."""
        goal = self.random.randint(6, 20)
        for _ in range(self.random.randint(1, 3)):
            self.offer(f"{self.new_name()} = {self.fill(self.random.choice(LEAVES[:16]), self.namespace)}\n")
        for _ in range(100):
            if len(self.chunks) >= goal:
                break
            chunk = self.candidate(self.namespace)
            if chunk is not None and self.offer(chunk):
                break
        return self.text()

    def offer(self, chunk: str) -> bool:
        """Try a statement: keep it if it runs, and sometimes if autograd refuses it; then the program ends here."""
        if _GROWS_FOR_EVER.search(chunk):
            return False
        code = compile(chunk, FILE, "exec")
        try:
            exec(code, self.namespace)
        except Exception as error:
            kind = autograd_error(error)
            torch.set_grad_enabled(True)
            if kind is not None and self.random.random() < KEPT.get(kind, 0.6):
                self.chunks.append(chunk)
                return True
            if kind in ("saved", "freed") or chunk.count("\n") > 1:
                self.namespace = self._rebuilt()  # it has run in part
            return False
        if any(isinstance(v, torch.Tensor) and v.numel() > 2000 for v in self.namespace.values()):
            self.namespace = self._rebuilt()
            return False
        self.chunks.append(chunk)
        self.codes.append(code)
        return False

    # -- names and values

    def new_name(self) -> str:
        """A name: mostly new, sometimes one that is taken."""
        taken = [n for n, v in self.namespace.items() if isinstance(v, torch.Tensor) and not n.startswith("_")]
        if taken and self.random.random() < 0.15:
            return self.random.choice(taken)
        self.counter += 1
        return self.random.choice("abchuvwxyz") + str(self.counter)

    def pick(self, namespace: dict[str, Any], wanted: Callable[[Any], bool]) -> str | None:
        """The name of a value, the younger the likelier."""
        names = [n for n, v in namespace.items() if not n.startswith("_") and _is(wanted, v)]
        if not names:
            return None
        return names[-1 - min(int(self.random.expovariate(0.35)), len(names) - 1)]

    def tensor(self, namespace: dict[str, Any], wanted: Callable[[torch.Tensor], bool] = lambda t: True) -> str | None:
        """The name of a float tensor."""
        return self.pick(namespace, lambda v: isinstance(v, torch.Tensor) and v.is_floating_point() and wanted(v))

    def fill(self, template: str, namespace: dict[str, Any]) -> str | None:
        """A template with names and numbers put in."""
        values: dict[str, str | None] = {}
        shape = self.random.choice(SHAPES)
        values["shape"] = ", ".join(map(str, shape)) if shape else "()"
        values["tuple"] = str(tuple(shape))
        if "{x}" in template or "{y}" in template:
            x = self.tensor(namespace, lambda t: t.requires_grad) if self.random.random() < 0.6 else None
            x = x or self.tensor(namespace)
            if x is None:
                return None
            values["x"] = x
            tensor = namespace[x]
            values["d"] = str(self.random.randrange(tensor.dim())) if tensor.dim() else "0"
            same = self.tensor(namespace, lambda t: t.shape == tensor.shape) if self.random.random() < 0.8 else None
            values["y"] = same or self.tensor(namespace)
            if "{m}" in template:
                width = tensor.shape[-1] if tensor.dim() else 1
                values["m"] = self.tensor(namespace, lambda t: t.dim() > 1 and width in t.shape[-2:]) or values["y"]
        if "{s}" in template:
            values["s"] = self.tensor(namespace, lambda t: t.numel() == 1) or self.tensor(namespace)
            values["t"] = self.tensor(namespace, lambda t: t.numel() == 1) or self.tensor(namespace)
        if "{l}" in template:
            values["l"] = self.pick(
                namespace, lambda v: isinstance(v, (list, tuple)) and any(isinstance(e, torch.Tensor) for e in v)
            )
        if "{o}" in template:
            values["o"] = self.pick(namespace, lambda v: isinstance(v, torch.optim.Optimizer))
        if any(value is None and "{" + key + "}" in template for key, value in values.items()):
            return None
        return template.format(**values)

    def expression(self, templates: Sequence[str], namespace: dict[str, Any]) -> str | None:
        """An expression of one of the templates."""
        return self.fill(self.random.choice(templates), namespace)

    # -- statements

    def candidate(self, namespace: dict[str, Any]) -> str | None:
        """Any statement, or a block."""
        kinds = (
            (self.simple, 70), (self.grad_block, 5), (self.loop, 6), (self.function, 5), (self.module, 5), (self.branch, 2),
            (self.toggled, 1), (self.training, 3), (self.carried, 3), (self.closure, 2), (self.object, 3),
            (self.situation, 6 if self.rare else 0),
        )  # fmt: skip
        makers, weights = zip(*kinds, strict=True)
        made: str | None = self.random.choices(makers, weights)[0](namespace)
        return made

    def simple(self, namespace: dict[str, Any]) -> str | None:
        """One statement."""
        kinds = (
            (self._leaf, 7), (self._unary, 8), (self._compute, 17), (self._reduce, 10), (self._view, 8), (self._indexed, 4), (self._inplace, 17),
            (self._cut, 5), (self._flag, 4), (self._backward, 12), (self._grad, 4), (self._container, 3), (self._on_list, 4), (self._unpacked, 3),
            (self._layer, 4), (self._optimizer, 5),
        )  # fmt: skip
        makers, weights = zip(*kinds, strict=True)
        made: str | None = self.random.choices(makers, weights)[0](namespace)
        return f"{made}\n" if made is not None else None

    def _either(self, common: Sequence[str], rare: Sequence[str]) -> Sequence[str]:
        return rare if self.rare and self.random.random() < 0.25 else common

    def _bound(self, value: str | None) -> str | None:
        return f"{self.new_name()} = {value}" if value is not None else None

    def _leaf(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(LEAVES, namespace))

    def _unary(self, namespace: dict[str, Any]) -> str | None:
        name = self.random.choice(UNARY)
        found = []
        if hasattr(torch.Tensor, name):
            found.append("{x}." + name + "()")
        if hasattr(torch, name):
            found.append("torch." + name + "({x})")
        if hasattr(nn.functional, name):
            found.append("F." + name + "({x})")
        return self._bound(self.expression(found, namespace))

    def _compute(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(self._either(COMPUTE, wide.EXPRESSIONS), namespace))

    def _reduce(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(REDUCE, namespace))

    def _view(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(self._either(VIEWS, wide.VIEWS), namespace))

    def _indexed(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(INDEXED, namespace))

    def _inplace(self, namespace: dict[str, Any]) -> str | None:
        written = self.expression(self._either(INPLACE, wide.WRITES), namespace)
        if (
            written is not None
            and self.random.random() < 0.15
            and not written.startswith("del ")
            and "=" not in written.replace("=True", "")
        ):
            return self._bound(written)
        return written

    def _cut(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(CUTS, namespace))

    def _flag(self, namespace: dict[str, Any]) -> str | None:
        if self.random.random() < 0.05:
            # torch 2.13 itself crashes on a hook of a view whose base was written since.
            x = self.tensor(namespace, lambda t: not t._is_view())
            return f"{x}.register_hook(lambda g: g * 2)" if x is not None else None
        return self.expression(FLAGS, namespace)

    def _backward(self, namespace: dict[str, Any]) -> str | None:
        return self.expression(BACKWARDS, namespace)

    def _grad(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(GRADS, namespace))

    def _container(self, namespace: dict[str, Any]) -> str | None:
        return self._bound(self.expression(CONTAINERS, namespace))

    def _on_list(self, namespace: dict[str, Any]) -> str | None:
        if self.random.random() < 0.5:
            return self._bound(self.expression(FROM_LIST, namespace))
        return self.expression(ON_LIST, namespace)

    def _unpacked(self, namespace: dict[str, Any]) -> str | None:
        template, count = self.random.choice(UNPACKED)
        value = self.fill(template, namespace)
        if value is None:
            return None
        if not count:
            try:
                count = len(eval(value, dict(namespace)))
            except Exception:
                return None
            if not 1 <= count <= 4:
                return None
        if self.random.random() < 0.15:
            return f"{self.new_name()}, *rest = {value}"
        return f"{', '.join(self.new_name() for _ in range(count))}{',' if count == 1 else ''} = {value}"

    # -- layers and optimizers

    def _layer(self, namespace: dict[str, Any]) -> str | None:
        module = self.pick(namespace, lambda v: isinstance(v, nn.Module))
        if module is not None and self.random.random() < 0.6:
            x = self.tensor(namespace, lambda t: t.dim() > 1) or self.tensor(namespace)
            extra = self.random.choice(["", "", "", "", ".sum()", ".mean()", ".eval()", ".train()"])
            if extra in (".eval()", ".train()"):
                return f"{module}{extra}"
            return self._bound(f"{module}({x}){extra}") if x is not None else None
        return self._bound(self._new_layer(namespace))

    def _new_layer(self, namespace: dict[str, Any]) -> str | None:
        x = self.tensor(namespace, lambda t: t.dim() > 1)
        if x is None:
            return None
        n, k = namespace[x].shape[-1], self.random.choice((1, 3, 4))
        act = self.random.choice(ACTIVATIONS)
        return self.random.choice(
            (
                f"nn.Linear({n}, {k})", f"nn.Linear({n}, {k}, bias=False)", act, f"nn.LayerNorm({n})", f"nn.BatchNorm1d({n})",
                f"nn.Conv1d({namespace[x].shape[-2]}, {k}, 1)", f"nn.Sequential(nn.Linear({n}, {k}), {act})",
                f"nn.Sequential(nn.Linear({n}, 4), {act}, nn.Linear(4, {k}))", f"nn.ModuleList([nn.Linear({n}, {n}), {act}])",
                f"nn.Bilinear({n}, {n}, {k})", f"nn.Sequential({act}, nn.LayerNorm({n}))", f"nn.GRUCell({n}, {k})", f"nn.RNN({n}, {k}, batch_first=True)",
            )
        )  # fmt: skip

    def _optimizer(self, namespace: dict[str, Any]) -> str | None:
        if self.pick(namespace, lambda v: isinstance(v, torch.optim.Optimizer)) and self.random.random() < 0.75:
            return self.expression(STEPS, namespace)
        module = self.pick(namespace, lambda v: isinstance(v, nn.Module) and any(True for _ in v.parameters()))
        if module is not None and self.random.random() < 0.7:
            parameters = f"{module}.parameters()"
        else:
            leaf = self.tensor(namespace, lambda t: t.is_leaf and t.requires_grad)
            other = self.tensor(namespace, lambda t: t.requires_grad)
            parameters = f"[{leaf}]" if self.random.random() < 0.7 else f"[{leaf}, {other}]"
            if leaf is None or other is None:
                return None
        return self._bound(self.random.choice(OPTIMIZERS).format(p=parameters))

    # -- blocks

    def body(self, namespace: dict[str, Any], count: int) -> tuple[str, bool]:
        """Some statements that run one after the other in a namespace; whether the last is refused by autograd."""
        lines: list[str] = []
        for _ in range(count * 4):
            if len(lines) >= count:
                break
            chunk = self.simple(namespace)
            if chunk is None:
                continue
            try:
                exec(compile(chunk, FILE, "exec"), namespace)
            except Exception as error:
                kind = autograd_error(error)
                if kind is not None and self.random.random() < KEPT.get(kind, 0.6):
                    lines.append(chunk)
                    return "".join(lines), True
                continue
            lines.append(chunk)
        return "".join(lines), False

    def _block(self, head: str, namespace: dict[str, Any], count: int, prepare: str = "") -> str | None:
        scratch = dict(namespace)
        if prepare:
            exec(prepare, scratch)
        body, _ = self.body(scratch, count)
        self.namespace = self._rebuilt()
        torch.set_grad_enabled(True)
        return f"{head}\n{textwrap.indent(body, '    ')}" if body else None

    def grad_block(self, namespace: dict[str, Any]) -> str | None:
        """`with torch.no_grad():`, and its kin."""
        head = self.random.choice(
            ("with torch.no_grad():", "with torch.no_grad():", "with torch.no_grad():", "with torch.set_grad_enabled(False):",
             "with torch.enable_grad():", "with torch.set_grad_enabled(True):")
        )  # fmt: skip
        prepare = "torch.set_grad_enabled(False)" if "no_grad" in head or "False" in head else ""
        return self._block(head, namespace, self.random.randint(1, 3), prepare)

    def loop(self, namespace: dict[str, Any]) -> str | None:
        """A loop over a range, or over the rows of a tensor or the elements of a list."""
        sequence = self.pick(namespace, lambda v: isinstance(v, (list, tuple)) and v and isinstance(v[0], torch.Tensor))
        if sequence is not None and self.random.random() < 0.3:
            return self._block(f"for v in {sequence}:", namespace, self.random.randint(1, 3), f"v = {sequence}[0]")
        times = self.random.choice((1, 2, 2, 3, 4, 8))
        return self._block(f"for i in range({times}):", namespace, self.random.randint(1, 4), "i = 0")

    def branch(self, namespace: dict[str, Any]) -> str | None:
        """An `if` whose condition torch decides: the model may have to follow both arms."""
        x = self.tensor(namespace)
        if x is None:
            return None
        head = self.random.choice((f"if {x}.dim() >= 0:", f"if {x}.requires_grad:", "if True:", f"if {x} is not None:"))
        return self._block(head, namespace, self.random.randint(1, 2))

    def toggled(self, namespace: dict[str, Any]) -> str | None:
        """Grad mode switched by a call."""
        scratch = dict(namespace)
        torch.set_grad_enabled(False)
        body, _ = self.body(scratch, 2)
        torch.set_grad_enabled(True)
        self.namespace = self._rebuilt()
        return f"torch.set_grad_enabled(False)\n{body}torch.set_grad_enabled(True)\n" if body else None

    def function(self, namespace: dict[str, Any]) -> str | None:
        """A helper function and a call of it."""
        x, y = self.tensor(namespace), self.tensor(namespace)
        known = self.pick(namespace, lambda v: callable(v) and getattr(v, "__name__", "").startswith("step"))
        if x is None or y is None:
            return None
        if known is not None and self.random.random() < 0.5:
            return f"{self.new_name()} = {known}({x}, {y})\n"
        self.counter += 1
        name = f"step{self.counter}"
        scratch = {
            **{k: v for k, v in namespace.items() if not isinstance(v, torch.Tensor)},
            "p": namespace[x],
            "q": namespace[y],
        }
        under = self.random.random() < 0.15
        torch.set_grad_enabled(not under)
        body, _ = self.body(scratch, self.random.randint(1, 4))
        torch.set_grad_enabled(True)
        result = self.tensor(scratch)
        self.namespace = self._rebuilt()
        if not body or result is None:
            return None
        head = "@torch.no_grad()\n" if under else ""
        results = self.random.choice((result, result, f"{result}, p", f"({result}, q)"))
        bound = self.new_name() if "," not in results else f"{self.new_name()}, {self.new_name()}"
        text = textwrap.indent(f"{body}return {results}\n", "    ")
        return f"{head}def {name}(p, q):\n{text}{bound} = {name}({x}, {y})\n"

    def module(self, namespace: dict[str, Any]) -> str | None:
        """A class derived from nn.Module, an object of it, and a call."""
        x = self.tensor(namespace, lambda t: t.dim() == 2)
        if x is None:
            return None
        self.counter += 1
        which = self.random.randrange(2)
        lines = [self.random.choice(FORWARDS[which])]
        lines += self.random.choices(FORWARD_BODY, k=self.random.randint(0, 3))
        body = "\n".join([*lines, self.random.choice(("return h", "return h", "return h.sum()", "return h, x"))])
        text = MODULES[which].strip("\n").format(
            C=f"Net{self.counter}", n=namespace[x].shape[-1], k=self.random.choice((3, 4)), act=self.random.choice(ACTIVATIONS),
            body=textwrap.indent(body, " " * 8),
        )  # fmt: skip
        bound = self.new_name() if "h, x" not in body else f"{self.new_name()}, _"
        return f"\n\n{text}\n\n\nnet{self.counter} = Net{self.counter}()\n{bound} = net{self.counter}({x})\n"

    def carried(self, namespace: dict[str, Any]) -> str | None:
        """A loop with state of its own."""
        x = self.tensor(namespace, lambda t: t.requires_grad) or self.tensor(namespace)
        if x is None:
            return None
        y = self.tensor(namespace, lambda t: t.shape == namespace[x].shape) or x
        return stateful.carried(self.random, x, y)

    def closure(self, namespace: dict[str, Any]) -> str | None:
        """A closure, a lambda, or a dictionary gone through."""
        x, y = self.tensor(namespace, lambda t: t.requires_grad) or self.tensor(namespace), self.tensor(namespace)
        if x is None or y is None:
            return None
        self.counter += 1
        return stateful.closure(self.random, self.counter, self.new_name(), x, y)

    def object(self, namespace: dict[str, Any]) -> str | None:
        """An object with a state, or a use of one."""
        cell = self.pick(namespace, lambda v: type(v).__name__.startswith("Cell"))
        x, y = self.tensor(namespace, lambda t: t.requires_grad), self.tensor(namespace)
        if cell is not None and y is not None:
            return self.random.choice(stateful.USES).format(c=cell, v=self.new_name(), y=y) + "\n"
        if x is None:
            return None
        self.counter += 1
        return "\n\n" + self.random.choice(stateful.OBJECTS).strip("\n").format(n=self.counter, x=x) + "\n"

    def situation(self, namespace: dict[str, Any]) -> str | None:
        """A piece of code as people write it."""
        x = self.tensor(namespace, lambda t: t.requires_grad) or self.tensor(namespace)
        if x is None:
            return None
        y = self.tensor(namespace, lambda t: t.shape == namespace[x].shape) or x
        self.counter += 1
        return wide.situation(self.random, self.counter, x, y)

    def training(self, namespace: dict[str, Any]) -> str | None:
        """A training loop over a module."""
        module = self.pick(namespace, lambda v: isinstance(v, nn.Module) and any(True for _ in v.parameters()))
        x = self.tensor(namespace, lambda t: t.dim() > 1)
        if module is None or x is None:
            return None
        other = self.tensor(namespace) or x
        self.counter += 1
        n = self.counter
        body = [
            self.random.choice(("opt{n}.zero_grad()", "opt{n}.zero_grad()", "")),
            self.random.choice(("out{n} = {m}({x})", "out{n} = {m}({x}) * 1.0", "out{n} = {m}({x}.detach())")),
            self.random.choice(("loss{n} = out{n}.pow(2).mean()", "loss{n} = out{n}.sum() + {y}.sum()", "loss{n} = F.mse_loss(out{n}, torch.zeros_like(out{n}))",
                                "total{n} = total{n} + out{n}.mean()\nloss{n} = total{n} * 1")),
            self.random.choice(("loss{n}.backward()", "loss{n}.backward()", "loss{n}.backward(retain_graph=True)")),
            self.random.choice(("opt{n}.step()", "opt{n}.step()", "", "with torch.no_grad():\n    for q in {m}.parameters():\n        q -= 0.1 * q.grad")),
            self.random.choice(("", "", "out{n}.add_(1)", "total{n} = total{n} + loss{n}", "total{n} += loss{n}.item()")),
        ]  # fmt: skip
        text = "\n".join(line for line in body if line)
        return (
            f"opt{n} = torch.optim.SGD({module}.parameters(), lr=0.1)\ntotal{n} = 0\nfor _ in range({self.random.choice((2, 3, 10))}):\n"
            + textwrap.indent(text.format(n=n, m=module, x=x, y=other), "    ")
            + "\n"
        )


def _is(wanted: Callable[[Any], bool], value: Any) -> bool:
    try:
        return wanted(value)
    except RuntimeError:  # torch refuses even to say whether a view is a leaf, once its grad_fn cannot be made
        return False


def generate(seed: int, *, rare: bool = False) -> str:
    """The program of a seed; `rare`: with the statements and situations of `wide`, too."""
    torch.default_generator.manual_seed(seed)
    return Programs(seed, rare=rare).generate()
