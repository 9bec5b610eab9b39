"""
Rarer statements, and whole situations of real code: recurrent state in tuples, several losses and optimizers, registries
of tensors, gradients of gradients, schedulers, classes that hold modules.

Templates and how they are filled; what runs, the generator finds out. Knows Python and torch, nothing of the model.
"""

# ruff: noqa: E501 (tables of statements, many to a line)

from __future__ import annotations

import random
import re

_NAMES = re.compile(r"\w+\{n\}")

EXPRESSIONS = (
    "{x}.__rmul__(2)", "{x}.__rsub__(1)", "{x}.__mul__({y})", "{x}.__radd__({y})", "{x}.__pow__(2)", "{x}.__neg__()", "2.0 ** ({x} * 0.1)", "{x} // 2 + {x}",
    "torch.hstack([{x}, {y}])", "torch.vstack(({x}, {y}))", "torch.concat([{x}, {y}], dim=-1)", "torch.atleast_2d({x})", "torch.block_diag({x}, {y})", "torch.column_stack([{x}, {y}])",
    "torch.Tensor.exp({x})", "torch.Tensor.mul({x}, {y})", "torch.square({x}) + {y}", "torch.true_divide({x}, {y})", "torch.float_power({x}, 2).float()", "torch.xlogy({x}.abs(), {x}.exp())",
    "torch.special.expit({x})", "torch.special.log_softmax({x}, -1)", "torch.linalg.vector_norm({x})", "torch.linalg.matmul({x}, {m})", "torch.linalg.det({x})", "torch.linalg.inv({x} @ {x}.mT + 3 * torch.eye(4))",
    "torch.linalg.multi_dot([{x}, {m}])", "torch.trace({x})", "torch.cumsum({x}, {d})", "torch.logcumsumexp({x}, {d})", "torch.nan_to_num({x})", "torch.clip({x}, -1, 1)", "torch.clamp({x}, max={y})",
    "torch.heaviside({x}, {y})", "torch.fmod({x}, 2)", "torch.remainder({x}, {y})", "torch.dist({x}, {y})", "torch.renorm({x}, 2, 0, 1.0)", "torch.take({x}, torch.tensor([0, 1]))",
    "torch.take_along_dim({x}, torch.zeros_like({x}, dtype=torch.long), dim={d})", "torch.masked_fill({x}, {x} > 0, 0.5)", "torch.index_add({x}, 0, torch.tensor([0]), {y}[:1])",
    "torch.scatter({x}, {d}, torch.zeros_like({x}, dtype=torch.long), {y})", "torch.where({x} > 0, {x}, 0.0)", "torch.where({x} > {y}, {x}.exp(), {y})", "torch.fft.fft({x}).real", "torch.fft.rfft({x}).abs()",
    "torch.complex({x}, {y}).abs()", "torch.polar({x}.abs(), {y}).real", "torch.view_as_real(torch.complex({x}, {y}))", "F.conv1d({x}.view(1, 1, -1), torch.ones(1, 1, 2))", "F.max_pool1d({x}.view(1, 1, -1), 2)",
    "F.avg_pool1d({x}.view(1, 1, -1), 2)", "F.interpolate({x}.view(1, 1, -1), scale_factor=2.0)", "F.embedding(torch.tensor([0, 1]), {x})", "F.batch_norm({x}, None, None, training=True)", "F.group_norm({x}, 1)",
    "F.instance_norm({x})", "F.scaled_dot_product_attention({x}, {x}, {y})", "F.one_hot({x}.argmax(-1), 4).float() * {x}", "F.pairwise_distance({x}, {y})", "F.softmin({x}, dim=-1)", "F.threshold({x}, 0.1, 0.0)",
    "F.rrelu({x}, training=False)", "F.alpha_dropout({x}, 0.2, True)", "F.gumbel_softmax({x}, dim=-1)", "F.bilinear({x}, {x}, torch.ones(2, {x}.shape[-1], {x}.shape[-1]))", "F.unfold({x}[None, None], 2)",
    "{x}.index_put((torch.tensor([0]),), torch.tensor(1.0))", "{x}.scatter_add({d}, torch.zeros_like({x}, dtype=torch.long), {y})", "{x}.new_ones({x}.shape) * {x}", "{x}.expm1().log1p()", "{x}.addmv({m}, {y})", "{x}.aminmax()[1]",
    "{x}.quantile(0.5)", "{x}.nansum()", "{x}.nanmean()", "{x}.count_nonzero() * {x}", "{x}.cummax({d})[0]", "{x}.kthvalue(1)[0]", "{x}.mode()[0]", "{x}.median({d}).values", "{x}.argsort().float() * {x}",
    "{x}.exp2()", "{x}.sinc()", "{x}.logit(1e-3)", "{x}.frac()", "{x}.deg2rad()", "{x}.sgn()", "{x}.copysign({y})", "{x}.ldexp(torch.tensor(2))", "{x}.lgamma()", "{x}.digamma()",
    "{x}.erfinv()", "{x}.acos()", "{x}.asinh()", "{x}.tan()", "{x}.log2()", "{x}.log10()", "{x}.bfloat16().float()", "{x}.to(torch.float64)", "{x}.double() * {y}.double()", "{x}.to({y})", "{x}.to({y}.dtype)", "{x}.cpu()", "{x}.to('cpu')",
    "{x}.type(torch.float32)", "{x}.clone(memory_format=torch.contiguous_format)", "{x}.tile(2)", "{x}.tile((2, 1))", "{x}.rot90()", "{x}.fliplr()", "{x}.cov()", "{x}.corrcoef()",
    "torch.func.vmap(torch.sin)({x})", "torch.vander({x})", "torch.cartesian_prod({x}, {y})", "torch.combinations({x})", "torch.bucketize({x}.detach(), torch.tensor([0.0])) * {x}", "torch.searchsorted(torch.tensor([0.0, 1.0]), {x}.detach()) + {x}",
    "sum({x}.unbind())", "[v for v in {x}][0]", "({x} if {x}.requires_grad else {y}) * 2", "({x}, {y})[0].exp()", "{{'k': {x}}}['k'].tanh()", "(lambda t: t * t)({x})",
)  # fmt: skip

VIEWS = (
    "{x}.mT", "{x}.adjoint()", "{x}.swapdims(0, 1)", "{x}.moveaxis(0, -1)", "{x}.as_strided((2,), (1,))", "{x}.expand(-1, -1)", "{x}[None, ...]", "{x}[:, None]", "{x}[..., :1]", "{x}[0, ...]", "{x}[slice(0, 1)]", "{x}[:, ::2]", "{x}[-2:]",
    "{x}.view(-1, 1)", "{x}.view({y}.size())", "{x}.reshape({y}.shape)", "{x}.reshape(-1, 1)", "{x}.permute(*range({x}.dim()))", "{x}.squeeze(-1)", "{x}.unsqueeze(1)", "{x}.hsplit(2)[0]", "{x}.vsplit(2)[1]", "torch.split({x}, [1, 2])[1]",
    "torch.chunk({x}, 2, -1)[0]", "torch.select({x}, 0, 0)", "torch.permute({x}, (1, 0))", "torch.movedim({x}, 0, 1)", "torch.unbind({x}, 1)[0]", "torch.t({x})", "torch.ravel({x})", "torch.swapaxes({x}, 0, 1)", "{x}.view(torch.float32)", "{x}.view_as({x})",
    "torch.atleast_1d({x})", "torch.atleast_3d({x})", "{x}.diagonal(0, 0, 1)", "torch.diag({x})", "{x}.diag_embed()", "{x}.unfold(-1, 2, 1)", "{x}.broadcast_to({y}.shape)", "torch.view_as_complex({x}.view(-1, 2)).real", "{x}.positive()", "{x}.contiguous().view(-1)",
)  # fmt: skip

WRITES = (
    "torch.sigmoid_({x})", "torch.exp_({x})", "torch.clamp_({x}, 0, 1)", "torch.neg_({x})", "torch.Tensor.add_({x}, 1)", "torch.Tensor.copy_({x}, {y})", "{x}.__iadd__(1)", "{x}.__imul__({y})", "{x}.__setitem__(0, 1.0)", "{x}.index_put_((torch.tensor([0]),), torch.tensor(1.0))",
    "{x}.put_(torch.tensor([0]), torch.tensor([1.0]))", "{x}.fill_diagonal_(0.0)", "{x}.scatter_add_({d}, torch.zeros_like({x}, dtype=torch.long), {y})", "{x}.clamp_min_(0.1)", "{x}.clip_(0, 1)", "{x}.swapaxes_(0, 1)", "{x}.transpose_(0, 1)", "{x}.addmm_({x}, {m})", "{x}.addmv_({m}, {y})",
    "{x}.baddbmm_({x}, {y})", "{x}.float_power_(2)", "{x}.fmod_(2)", "{x}.remainder_(2)", "{x}.true_divide_({y})", "{x}.multiply_(2)", "{x}.subtract_({y})", "{x}.divide_(2)", "{x}.bernoulli_(0.5)", "{x}.exponential_()", "{x}.expm1_()", "{x}.log1p_()",
    "{x}.atan_()", "{x}.tan_()", "{x}.cumprod_({d})", "{x}.triu_()", "{x}.where(torch.tensor(True), {y}).add_(1)", "{x}.T.add_(1)", "{x}.mT[0] = 1.0", "{x}[0][0] = 1.0", "{x}[0:2][0] = 0.5", "{x}[:, :1] *= 2", "{x}[..., 0] = {y}[..., 0]", "{x}[0], {x}[1] = 1.0, 2.0", "{x}[0] = {x}[1]", "{x}[0] = {x}[1].clone()",
    "{x}[0] = {x}[0] * 2", "{x}[{x} != {x}] = 0", "{x}[torch.arange(1)] += {y}[0]", "{x}[[True, False]] = 0", "{x}[None] += 1", "{x}[()] = 0.5", "{x}[-1:] = {y}[-1:]", "{x}.flatten().mul_(2)", "{x}.reshape(-1)[0] = 2.0", "{x}.contiguous().add_(1)", "{x}.float().add_(1)", "{x}.to(torch.float32).mul_(2)", "{x}.clone().add_(1)",
    "{x}.expand(2, *{x}.shape).mul(2)", "{x}.squeeze().add_(1)", "{x}.permute(1, 0).mul_(2)", "{x}.data = {x}.data * 2", "{x}.data.zero_()", "{x}.data.fill_(0.5)", "{x}.data[:] = {y}.data", "{x}.detach()[0] = 1.0", "{x}.detach().copy_({y}.detach())", "{x}.detach().view(-1)[0] = 3.0", "{x}.numpy()[0] = 1" , "{x}.detach().numpy()[...] = 1.0",
    "torch.add({x}, {y}, out={x})", "torch.sum({y}, 0, out={x})", "torch.matmul({x}, {m}, out={y})", "torch.cat([{y}, {y}], out={x})", "torch.stack([{x}], out={y})", "torch.neg({x}.detach(), out={y})", "torch.clamp({y}, 0, 1, out={x}[:])", "nn.init.xavier_uniform_({x})", "nn.init.uniform_({x}, -1, 1)", "nn.init.ones_({x}.data)", "nn.init.orthogonal_({x})",
    "F.threshold({x}, 0.1, 0.0, inplace=True)", "F.relu6({x}, inplace=True)", "F.selu({x}, inplace=True)", "F.celu({x}, inplace=True)", "F.hardswish({x}, inplace=True)", "F.mish({x}, inplace=True)", "F.alpha_dropout({x}, 0.5, True, True)", "F.hardsigmoid({x}, inplace=True)", "F.rrelu({x}, inplace=True)", "nn.Threshold(0.1, 0.0, True)({x})",
    "nn.Sequential(nn.Tanh(), nn.ReLU(inplace=True))({x})", "torch._foreach_add_([{x}, {y}], 1.0)", "torch._foreach_mul_([{x}], 2.0)", "nn.utils.clip_grad_norm_([{x}], 1.0)", "nn.utils.clip_grad_value_([{x}, {y}], 0.1)", "nn.utils.clip_grad_norm_({x}, 0.5)", "{x}.grad.add_(1)", "{x}.grad.mul_(0.5)", "{x}.grad.data.zero_()", "{x}.grad.clamp_(-1, 1)", "{x}.grad.detach_()",
    "{x}.grad += {x}", "{x}.grad = {y}.detach()", "{x}.add_({x}.grad, alpha=-0.1)", "{x}.data.add_({x}.grad.data, alpha=-0.1)", "{x} = {x} - 0.1 * {x}.grad", "{x} = {x} + {y}", "{x} = {x}.clone()", "{x} = {x}.detach()", "{x} = {y} = {x} * 2", "del {y}", "{x}.register_hook(lambda g: g.clone())", "{x}.retain_grad()",
)  # fmt: skip

SITUATIONS = (
    # state in a tuple
    "h{n}, c{n} = torch.zeros_like({x}), torch.zeros_like({x})\nfor _ in range({k}):\n    h{n}, c{n} = torch.tanh({x} + h{n}), c{n} * {x} + h{n}\n    {cut}\n    (h{n} + c{n}).sum().backward({retain})\n",
    "cell{n} = nn.LSTMCell(3, 3)\nstate{n} = (torch.zeros(2, 3), torch.zeros(2, 3))\nfor _ in range({k}):\n    state{n} = cell{n}(torch.ones(2, 3), state{n})\n    {cut_state}\n    state{n}[0].sum().backward({retain})\n",
    "rnn{n} = nn.LSTM(3, 3)\nhidden{n} = None\nfor _ in range({k}):\n    out{n}, hidden{n} = rnn{n}(torch.ones(2, 1, 3), hidden{n})\n    {cut_hidden}\n    out{n}.sum().backward({retain})\n",
    "gru{n} = nn.GRU(3, 3, batch_first=True)\nhidden{n} = torch.zeros(1, 2, 3)\nfor _ in range({k}):\n    out{n}, hidden{n} = gru{n}(torch.ones(2, 1, 3), hidden{n})\n    {cut_one}\n    out{n}.mean().backward({retain})\n",
    # two losses, two optimizers
    "gen{n}, dis{n} = nn.Linear(3, 3), nn.Linear(3, 1)\ng_opt{n}, d_opt{n} = optim.SGD(gen{n}.parameters(), lr=0.1), optim.SGD(dis{n}.parameters(), lr=0.1)\nfor _ in range({k}):\n    fake{n} = gen{n}(torch.ones(2, 3)){act}\n    d_loss{n} = dis{n}(fake{n}{detach}).mean()\n"
    "    d_opt{n}.zero_grad()\n    d_loss{n}.backward({retain})\n    {order_a}\n    g_loss{n} = -dis{n}(fake{n}).mean()\n    g_opt{n}.zero_grad()\n    g_loss{n}.backward()\n    {order_b}\n    g_opt{n}.step()\n",
    "actor{n}, critic{n} = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), nn.Linear(3, 1)\nopt{n} = optim.Adam([*actor{n}.parameters(), *critic{n}.parameters()])\nfor _ in range({k}):\n    value{n} = critic{n}(torch.ones(2, 3))\n    logits{n} = actor{n}(torch.ones(2, 3))\n"
    "    policy{n} = -(F.log_softmax(logits{n}, -1) * value{n}{detach}).mean()\n    opt{n}.zero_grad()\n    policy{n}.backward({retain})\n    value{n}.pow(2).mean().backward()\n    opt{n}.step()\n",
    "losses{n} = [({x} * i).sum() for i in range({k})]\nfor l{n} in losses{n}:\n    l{n}.backward({retain})\n",
    "shared{n} = {x}{act}\nlosses{n} = []\nfor i in range({k}):\n    losses{n}.append((shared{n} * i).sum())\nfor l{n} in losses{n}:\n    l{n}.backward({retain})\n",
    "shared{n} = {x}.exp()\nlosses{n} = {{'a': shared{n}.sum(), 'b': (shared{n} * {y}).mean()}}\nsum(losses{n}.values()).backward({retain})\n{late}\n",
    # registries
    "memo{n} = {{}}\nfor i in range({k}):\n    key = i % 2\n    if key not in memo{n}:\n        memo{n}[key] = {x}{act} * (i + 1)\n    memo{n}[key].sum().backward({retain})\n",
    "queue{n} = [{x} * 1]\nwhile len(queue{n}) < {k}:\n    queue{n}.append(queue{n}[-1].tanh())\n{write_last}\nqueue{n}[-1].sum().backward()\n",
    "rows{n} = []\nfor row in {x}:\n    rows{n}.append(row.exp())\n{write_rows}\ntorch.stack(rows{n}).sum().backward()\n",
    "out{n} = torch.zeros(3)\nfor i in range(3):\n    out{n}[i] = ({x} * (i + 1)).sum(){act}\nout{n}.sum().backward({retain})\n{late}\n",
    "out{n} = torch.zeros(3)\nfor i in range(1, 3):\n    out{n}[i] = out{n}[i - 1] * {x}.sum() + 1\nout{n}{act}.sum().backward()\n",
    "ema{n} = {x}.detach().clone()\nfor _ in range({k}):\n    loss{n} = ({x} * ema{n}).sum()\n    loss{n}.backward({retain})\n    {ema}\n",
    # gradients of gradients
    "z{n} = {x}{act}\ng{n}, = torch.autograd.grad(z{n}.pow(2).sum(), {x}, create_graph={flag})\npenalty{n} = (g{n}.norm() - 1) ** 2\n{late}\npenalty{n}.backward()\n",
    "w{n} = {x}.detach().clone().requires_grad_()\nfor _ in range({k}):\n    g{n} = torch.autograd.grad((w{n} ** 2).sum(), w{n}, create_graph={flag})[0]\n    w{n} = w{n} - 0.1 * g{n}\n(w{n} * {x}).sum().backward()\n",
    "w{n} = {x}.detach().clone().requires_grad_()\n(w{n} ** 3).sum().backward(create_graph={flag})\ng{n} = w{n}.grad\n{zero}\ng{n}.sum().backward()\n",
    # optimizers
    "net{n} = nn.Sequential(nn.Linear(3, 4), nn.ReLU({flag}), nn.Linear(4, 1))\nopt{n} = torch.optim.{optimizer}(net{n}.parameters(), lr=0.01)\nsched{n} = torch.optim.lr_scheduler.StepLR(opt{n}, 1)\nfor _ in range({k}):\n    loss{n} = net{n}(torch.ones(2, 3)).mean()\n    opt{n}.zero_grad()\n"
    "    loss{n}.backward({retain})\n    opt{n}.step()\n    sched{n}.step()\n{late}\n",
    "net{n} = nn.Linear(3, 2)\nopt{n} = torch.optim.{optimizer}(net{n}.parameters(), lr=0.01)\nout{n} = net{n}(torch.ones(1, 3, requires_grad={flag})){act}\nloss{n} = out{n}.sum()\n{first_step}\nloss{n}.backward({retain})\nopt{n}.step()\n{again}\n",
    "net{n} = nn.Linear(3, 3)\nopt{n} = torch.optim.SGD(net{n}.parameters(), lr=0.1)\ndef closure{n}():\n    opt{n}.zero_grad()\n    loss = net{n}(torch.ones(1, 3)).sum()\n    loss.backward()\n    return loss\nopt{n}.step(closure{n})\n",
    "net{n} = nn.Linear(3, 3)\nfor p in net{n}.parameters():\n    p.requires_grad = {flag}\nout{n} = net{n}(torch.ones(1, 3))\nout{n}.sum().backward()\n",
    "net{n} = nn.Linear(3, 3)\nnet{n}.requires_grad_({flag})\nout{n} = net{n}({x}.flatten()[:3]){act}\nout{n}.sum().backward()\n",
    "net{n} = nn.Linear(3, 3)\ny{n} = net{n}(torch.ones(1, 3))\nwith torch.no_grad():\n    for p in net{n}.parameters():\n        {p_write}\nz{n} = net{n}(y{n})\n(y{n} + z{n}).sum().backward()\n",
    # classes
    "class Block{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])\n        self.heads = nn.ModuleDict({{'a': nn.Linear(3, 2), 'b': nn.Linear(3, 1)}})\n        self.cache = None\n\n    def forward(self, x):\n        for layer in self.layers:\n            x = {layer}\n"
    "        self.cache = x {cache}\n        return {{name: head(x) for name, head in self.heads.items()}}\n\n\nblock{n} = Block{n}()\nfor _ in range({k}):\n    outs{n} = block{n}(torch.ones(2, 3))\n    outs{n}['a'].sum().backward({retain})\n{block_late}\n",
    "class Base{n}:\n    def __init__(self, t):\n        self.t = t\n\n    def loss(self):\n        return self.value().sum()\n\n    def value(self):\n        return self.t * 2\n\n\nclass Sub{n}(Base{n}):\n    def __init__(self, t):\n        super().__init__(t)\n        self.u = t.exp()\n\n    def value(self):\n        return {value}\n\n\n"
    "sub{n} = Sub{n}({x})\nsub{n}.loss().backward({retain})\n{sub_late}\n",
    "class Square{n}(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return 2 * g * x\n\n\nq{n} = {x} * 1\nr{n} = Square{n}.apply(q{n})\n{q_write}\nr{n}.sum().backward({retain})\n{r_late}\n",
    # Python
    "def steps{n}(t, *, times=2, write=False):\n    for _ in range(times):\n        t = t.tanh()\n        if write:\n            t.mul_(2)\n    return t\n\n\nr{n} = steps{n}({x}, times={k}, write={flag})\nr{n}.sum().backward()\n",
    "def pair{n}(a, b=None):\n    b = a if b is None else b\n    return a * b, a + b\n\n\np{n}, q{n} = pair{n}({x}{second})\np{n}.sum().backward({retain})\nq{n}.sum().backward()\n",
    "try:\n    t{n} = {x}.exp()\nfinally:\n    u{n} = {x} * 2\nt{n}.add_(1)\n(t{n} + u{n}).sum().backward()\n",
    "for i in range({k}):\n    if i == 1:\n        continue\n    if i > 2:\n        break\n    t{n} = ({x} * i).exp()\n    {t_write}\n    t{n}.sum().backward()\n",
    "t{n} = {x}{act}\ni{n} = 0\nwhile True:\n    t{n} = t{n} * {y}\n    i{n} += 1\n    if i{n} >= {k}:\n        break\nt{n}.sum().backward({retain})\n{late}\n",
    "t{n} = [v * 2 for v in ({x}, {y})]\nfor i, v in enumerate(t{n}):\n    t{n}[i] = v.sigmoid()\n{t_list}\nsum(v.sum() for v in t{n}).backward({retain})\n",
    "with torch.enable_grad():\n    with torch.no_grad():\n        a{n} = {x} * 2\n    b{n} = {x} * 3\n{ab}.sum().backward()\n",
    "@torch.no_grad()\ndef frozen{n}(t):\n    return t * 2\n\n\na{n} = frozen{n}({x})\n({x} * a{n}).sum().backward({retain})\n{a_late}\n",
    "a{n} = {x}{act}\nb{n} = a{n}\nb{n} {aug}= 2\na{n}.sum().backward()\n",
    "a{n} = {x}.{saver}()\nv{n} = a{n}.view(-1)\n{v_write}\na{n}.sum().backward()\n",
    "mask{n} = {x} > 0\na{n} = {x}.clone()\na{n}[mask{n}] = {value_of}\na{n}{act}.sum().backward()\n",
    "buf{n} = torch.zeros(2, *{x}.shape)\nbuf{n}[0] = {x}\nbuf{n}[1] = {x}{act}\n{buf}\nbuf{n}.sum().backward()\n",
)  # fmt: skip

_CHOICES: dict[str, tuple[str, ...]] = {
    "k": ("1", "2", "2", "3", "5"),
    "retain": ("", "", "", "retain_graph=True"),
    "flag": ("True", "False"),
    "act": ("", "", ".exp()", ".tanh()", ".sigmoid()", ".mul(2)", ".relu()", ".sqrt()"),
    "detach": ("", ".detach()"),
    "cut": ("", "h{n} = h{n}.detach()", "h{n}, c{n} = h{n}.detach(), c{n}.detach()", "c{n}.detach_()", "h{n}.mul_(0.5)"),
    "cut_state": ("", "state{n} = tuple(s.detach() for s in state{n})", "state{n} = (state{n}[0].detach(), state{n}[1])", "state{n} = [s.detach() for s in state{n}]"),
    "cut_hidden": ("", "hidden{n} = tuple(h.detach() for h in hidden{n})", "hidden{n} = (hidden{n}[0].detach(), hidden{n}[1].detach())", "hidden{n} = None"),
    "cut_one": ("", "hidden{n} = hidden{n}.detach()", "hidden{n} = hidden{n}.data", "hidden{n}.detach_()"),
    "order_a": ("d_opt{n}.step()", "pass"),
    "order_b": ("d_opt{n}.step()", "pass"),
    "late": ("", "{x}.sum().backward()", "shared{n}.sum().backward()", "loss{n}.backward()", "out{n}.add_(1)", "t{n}.sum().backward()", "g{n}.mul_(2)", "z{n}.add_(1)"),
    "write_last": ("", "queue{n}[-1].add_(1)", "queue{n}[0].add_(1)", "queue{n}[1].mul_(2)"),
    "write_rows": ("", "rows{n}[0].add_(1)", "rows{n}[-1] *= 2", "for r in rows{n}:\n    r.add_(1)", "rows{n}[0] = rows{n}[0] + 1"),
    "ema": ("ema{n}.mul_(0.9).add_({x}.detach(), alpha=0.1)", "ema{n} = 0.9 * ema{n} + 0.1 * {x}", "ema{n} = 0.9 * ema{n} + 0.1 * {x}.detach()", "ema{n}.lerp_({x}.detach(), 0.1)", "with torch.no_grad():\n        ema{n} += {x}"),
    "zero": ("", "w{n}.grad = None", "w{n}.grad.zero_()", "w{n}.grad = torch.zeros_like(w{n})"),
    "optimizer": ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"),
    "first_step": ("", "opt{n}.step()", "opt{n}.zero_grad()", "with torch.no_grad():\n    net{n}.weight.mul_(0.9)", "net{n}.weight.data.mul_(0.9)", "nn.init.zeros_(net{n}.weight)"),
    "again": ("", "loss{n}.backward()", "out{n}.sum().backward()", "out{n}.mean().backward()"),
    "p_write": ("p.mul_(0.9)", "p -= 0.1", "p.data.mul_(0.9)", "p.copy_(p * 0.9)", "p.grad = None"),
    "layer": ("layer(x)", "F.relu(layer(x), inplace=True)", "layer(x).tanh()", "x + layer(x)", "torch.sigmoid(layer(x)).mul_(2)"),
    "cache": ("", "if self.cache is None else self.cache + x", ".detach()", "* 1"),
    "block_late": ("", "outs{n}['b'].sum().backward()", "block{n}.cache.sum().backward()", "outs{n}['a'].sum().backward()"),
    "value": ("self.t * self.u", "super().value() + self.u", "self.u * self.u", "super().value()"),
    "sub_late": ("", "sub{n}.loss().backward()", "sub{n}.u.add_(1)\nsub{n}.loss().backward()", "sub{n}.u = sub{n}.u.detach()\nsub{n}.loss().backward()"),
    "q_write": ("", "q{n}.add_(1)", "r{n}.add_(1)", "q{n}.data.add_(1)"),
    "r_late": ("", "r{n}.sum().backward()", "q{n}.sum().backward()"),
    "second": ("", ", {y}", ", b={y}", ", {x}.exp()"),
    "t_write": ("pass", "t{n}.add_(1)", "t{n} = t{n} + 1", "t{n}.detach().add_(1)"),
    "t_list": ("", "t{n}[0].add_(1)", "t{n}[0] = t{n}[0] + 1", "t{n}.append({x})", "t{n}.pop()"),
    "ab": ("a{n}", "b{n}", "(a{n} * b{n})", "(a{n} + b{n})"),
    "a_late": ("", "a{n}.sum().backward()", "a{n}.mul_(2)", "frozen{n}({x} * 2).sum().backward()"),
    "aug": ("*", "+", "-", "/", "**"),
    "saver": ("exp", "tanh", "sigmoid", "abs", "neg", "sqrt", "relu", "square"),
    "v_write": ("", "v{n}.add_(1)", "v{n}[0] = 0", "v{n} = v{n} * 2", "v{n}.detach().mul_(2)", "v{n}.data.mul_(2)", "with torch.no_grad():\n    v{n}.zero_()"),
    "value_of": ("0.0", "{y}[mask{n}]", "a{n}[mask{n}] * 2", "{x}[mask{n}].exp()"),
    "buf": ("", "buf{n}.mul_(2)", "buf{n}[0] = buf{n}[1]", "buf{n}[0] *= buf{n}[1]", "c{n} = buf{n}[0] * buf{n}[1]\nbuf{n}[0] += 1\nc{n}.sum().backward(retain_graph=True)", "buf{n} = buf{n}.exp()\nbuf{n}[0] = 0"),
}  # fmt: skip


def situation(rng: random.Random, number: int, x: str, y: str) -> str:
    """A piece of code as people write it, sound or not."""
    text = rng.choice(SITUATIONS)
    # what the situation has no name for would only fail
    own = {word for word in _NAMES.findall(text) if f"{word} = " in text or f"{word}, " in text or f"{word}(" in text}
    chosen = {
        name: rng.choice([option for option in options if own.issuperset(_NAMES.findall(option))])
        for name, options in _CHOICES.items()
        if "{" + name + "}" in text
    }
    values = {"n": str(number), "x": x, "y": y}
    filled = {name: option.format(**values) for name, option in chosen.items()}
    indented = text.format(**values, **filled)
    return indented if indented.endswith("\n") else indented + "\n"
