"""
Calls as people write them: bound by the operation table, their shapes inferred, and executed by torch.

Where `test_shapes_opinfo` holds that no answer is wrong, this holds that there is an answer, and that the table's
parameter names are those that the shape knowledge reads.
"""

from __future__ import annotations

import ast
import pkgutil
import warnings
from typing import Any

import pytest
import torch
from torch.fx.operator_schemas import normalize_function

from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.infer import UNKNOWN, Sized

CALLS = """
x + y
x - 1
2 * x
x / y
x // 2
x % 2
x ** 2
2 ** x
x @ y.T
-x
~b
x == y
x > 0
b & b
b | b
torch.add(x, y, alpha=2)
torch.add(x, 1)
x.add(row)
x.sub(row)
x.mul(row)
x.div(2)
x.pow(2)
x.clamp(0, 1)
x.clamp(min=0)
torch.clamp(x, max=row)
torch.where(b, x, y)
torch.where(b, x, 0.0)
x.where(b, y)
torch.maximum(x, row)
torch.lerp(x, y, 0.5)
torch.addcmul(x, y, row)
torch.exp(x)
x.exp()
x.sigmoid()
x.relu()
x.abs().sqrt()
torch.nan_to_num(x)
x.masked_fill(b, 0.0)
x.float()
x.to(torch.float64)
x.type_as(y)
x.contiguous()
x.clone()
x.detach()
x.sum()
x.sum(0)
x.sum(dim=1)
x.sum(dim=1, keepdim=True)
x.sum((0, 1))
x.sum(-1, True)
torch.sum(x, dim=[0])
torch.sum(x, axis=0)
x.mean()
x.mean(1)
x.mean([1, 2]) if x.dim() > 2 else x.mean([0, 1])
x.prod(0)
x.var(0)
x.var(dim=0, unbiased=False)
x.std()
x.norm()
x.norm(dim=1)
x.norm(2, 1)
x.norm(p=2, dim=1, keepdim=True)
torch.norm(x)
torch.linalg.norm(x)
torch.linalg.norm(x, dim=1)
torch.linalg.vector_norm(x, dim=0)
x.max()
x.max(0)
x.max(dim=1, keepdim=True)
torch.max(x, y)
x.min(1)
x.amax(1)
x.argmax()
x.argmax(1)
x.argmax(dim=-1, keepdim=True)
x.median()
x.median(0)
x.all()
b.any(1)
x.logsumexp(1)
x.cumsum(0)
x.cumprod(dim=1)
x.sort()
x.sort(dim=0, descending=True)
x.argsort()
x.topk(2)
x.topk(2, dim=0)
x.kthvalue(2)
x.quantile(0.5)
x.softmax(1)
x.log_softmax(dim=-1)
torch.softmax(x, dim=1)
F.softmax(x, dim=1)
F.log_softmax(x, 1)
F.gumbel_softmax(x)
torch.matmul(x, y.t())
x.matmul(v)
x.mm(y.t())
torch.mv(x, v)
torch.dot(v, v)
torch.outer(v, v)
torch.bmm(i, i.transpose(1, 2))
torch.addmm(m, x, y.t())
torch.einsum("ij,kj->ik", x, y)
torch.einsum("bij->bji", i)
torch.einsum("bij,bij->b", i, i)
torch.tensordot(x, y, dims=([1], [1]))
x.view(-1)
x.view(4, 3)
x.view((2, 6))
x.view(2, -1)
x.view(x.size(0), -1)
x.view(-1, 2, 2)
x.view(*sizes)
x.view(sizes)
x.view_as(y)
x.reshape(4, 3)
x.reshape((2, -1))
torch.reshape(x, (6, 2))
i.flatten()
i.flatten(1)
torch.flatten(i, 1)
i.flatten(start_dim=0, end_dim=1)
x.unflatten(1, (2, 2))
x.unsqueeze(0)
x.unsqueeze(-1)
torch.unsqueeze(x, 1)
one.squeeze()
one.squeeze(0)
one.squeeze(1)
x.t()
x.T
i.mT
x.transpose(0, 1)
i.transpose(-1, -2)
i.permute(2, 0, 1)
i.permute((1, 0, 2))
torch.permute(i, (1, 0, 2))
i.movedim(0, -1)
i.swapaxes(0, 1)
row.expand(3, 4)
row.expand(3, -1)
row.expand_as(x)
torch.broadcast_to(row, (3, 4))
row.repeat(3, 1)
row.repeat((2, 2))
row.tile((2,))
x.repeat_interleave(2, dim=0)
torch.cat([x, y])
torch.cat((x, y), dim=1)
torch.cat([x, y], 1)
torch.stack([x, y])
torch.stack((x, y), dim=-1)
torch.hstack([x, y])
torch.vstack([x, y])
x.split(2)
x.split([1, 2])
x.split(2, dim=1)
torch.split(x, 2, 1)
x.chunk(2)
x.chunk(2, dim=1)
torch.chunk(x, 2, -1)
x.unbind()
x.unbind(1)
torch.tensor_split(x, 2)
x.select(0, 1)
x.narrow(1, 0, 2)
x.diagonal()
torch.diag(v)
torch.diag(m)
torch.diag_embed(x)
x.tril()
torch.triu(x, 1)
x.gather(1, k)
torch.gather(x, 1, k)
x.index_select(0, j)
x.scatter(1, k, 1.0)
x.scatter_add(1, k, y)
x.index_add(0, j, x[:2])
torch.take(x, j)
torch.take_along_dim(x, k, 1)
x.flip(0)
torch.flip(x, [0, 1])
torch.roll(x, 1, 0)
x.unfold(1, 2, 1)
torch.meshgrid(v, v, indexing="ij")
torch.meshgrid([v, j.float()], indexing="xy")
torch.cdist(x, y)
F.relu(x)
F.relu(x, inplace=False)
F.gelu(x)
F.leaky_relu(x, 0.1)
F.glu(x)
F.dropout(x, 0.5)
F.dropout(x, p=0.5, training=False)
F.normalize(x, dim=1)
F.linear(x, y)
F.linear(x, y, bias=torch.rand(3))
F.bilinear(x, x, torch.rand(5, 4, 4))
F.pad(x, (1, 1))
F.pad(i, (1, 2, 0, 1), mode="constant", value=1.0)
F.pad(img, [1, 1, 1, 1], mode="reflect")
F.one_hot(j, 5)
F.one_hot(j, num_classes=5)
F.embedding(j, x)
F.conv1d(i, torch.rand(5, 3, 2))
F.conv2d(img, w)
F.conv2d(img, w, None, 2, 1)
F.conv2d(img, w, bias=None, stride=2, padding=1)
F.conv2d(img, w, padding="same")
F.conv2d(img, w, stride=(2, 1), padding=(1, 0), dilation=2)
F.conv_transpose2d(img, torch.rand(3, 2, 3, 3), stride=2, output_padding=1)
F.max_pool2d(img, 2)
F.max_pool2d(img, kernel_size=3, stride=2, padding=1)
F.max_pool2d(img, 2, return_indices=True)
F.avg_pool2d(img, 2)
F.avg_pool2d(img, 3, 2, 1, ceil_mode=True)
F.adaptive_avg_pool2d(img, 1)
F.adaptive_avg_pool2d(img, (2, None))
F.adaptive_max_pool2d(img, 2)
F.interpolate(img, scale_factor=2)
F.interpolate(img, size=(5, 7), mode="bilinear", align_corners=False)
F.interpolate(img, (5, 7))
F.unfold(img, 3)
F.pixel_shuffle(torch.rand(1, 8, 2, 2), 2)
F.layer_norm(x, (4,))
F.layer_norm(x, x.shape[1:])
F.batch_norm(x, None, None, training=True)
F.group_norm(img, 3)
F.instance_norm(img)
F.mse_loss(x, y)
F.mse_loss(x, y, reduction="none")
F.mse_loss(x, row, reduction="none")
F.l1_loss(x, y, reduction="sum")
F.smooth_l1_loss(x, y)
F.cross_entropy(x, c)
F.cross_entropy(x, c, reduction="none")
F.cross_entropy(x, x.softmax(1), reduction="none")
F.nll_loss(x.log_softmax(1), c)
F.binary_cross_entropy(x.sigmoid(), b.float())
F.binary_cross_entropy_with_logits(x, b.float(), reduction="none")
F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean")
F.cosine_similarity(x, y)
F.cosine_similarity(x, y, dim=0)
F.pairwise_distance(x, y)
F.triplet_margin_loss(x, y, y)
F.scaled_dot_product_attention(i, i, i)
torch.linalg.inv(m)
torch.linalg.det(m)
torch.linalg.solve(m, v3)
torch.linalg.svd(x)
torch.linalg.svd(x, full_matrices=False)
torch.linalg.eigh(m)
torch.linalg.qr(x)
torch.linalg.cholesky(m @ m.T + 10 * torch.eye(3))
torch.trace(m)
torch.bincount(j)
torch.nonzero(x)
torch.masked_select(x, b)
x.item() if x.numel() == 1 else x.sum()
x.bernoulli()
torch.multinomial(x.abs(), 2)
torch.fft.fft(x)
torch.fft.rfft(x)
torch.fft.irfft(torch.fft.rfft(x))
torch.fft.fft2(x)
torch.stft(torch.rand(40), 8, return_complex=True)
torch.cross(torch.rand(2, 3), torch.rand(2, 3), dim=1)
torch.baddbmm(torch.rand(2, 1, 5), i, torch.rand(2, 4, 5))
torch.addbmm(torch.rand(3, 5), i, torch.rand(2, 4, 5))
torch.rsqrt(x)
torch.atan2(x, y)
torch.polygamma(1, x)
torch.logaddexp(x, y)
torch.square(x)
torch.cumsum(x, dim=0)
torch.ones_like(x) * x
torch.isnan(x)
torch.numel(x) * x
torch.searchsorted(v, x)
torch.bucketize(x, v)
torch.unique(j)
torch.renorm(x, 2, 0, 1.0)
torch.kron(x, m)
torch.block_diag(x, m)
torch.combinations(v)
torch.cartesian_prod(v, j.float())
torch.histc(x, 5)
torch.vander(v)
torch.trapezoid(x)
torch.diff(x)
torch.diff(x, dim=0)
x.index_fill(0, j, 1.0)
x.index_copy(0, j, x[:2])
x.index_put((j,), x[:2])
x.masked_scatter(b, y)
x.fill_diagonal_(0.0)
x.add_(1)
x.mul_(row)
x.clamp_(0, 1)
x.zero_()
x.copy_(y)
x.normal_()
x.uniform_(0, 1)
x.unsqueeze_(0)
x.transpose_(0, 1)
x.squeeze_()
""".strip().splitlines()

UNKNOWN_SIZES = {  # data decides, so only part of the shape can be known
    "torch.bincount(j)": ((None,),),
    "torch.nonzero(x)": ((None, 2),),
    "torch.masked_select(x, b)": ((None,),),
    "torch.unique(j)": ((None,),),
}


def namespace() -> dict[str, Any]:
    return {
        "torch": torch,
        "F": torch.nn.functional,
        "x": torch.rand(3, 4),
        "y": torch.rand(3, 4),
        "row": torch.rand(4),
        "v": torch.rand(4),
        "v3": torch.rand(3),
        "m": torch.rand(3, 3),
        "i": torch.rand(2, 3, 4),
        "one": torch.rand(1, 3, 1),
        "img": torch.rand(2, 3, 8, 9),
        "w": torch.rand(5, 3, 3, 3),
        "b": torch.rand(3, 4) > 0.5,
        "c": torch.tensor([0, 1, 2]),
        "j": torch.tensor([0, 2]),
        "k": torch.tensor([[0], [1], [0]]),
        "sizes": (2, 6),
    }


def class_of(dtype: torch.dtype) -> str:
    return "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "int"


def described(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Sized(tuple(value.shape), class_of(value.dtype))
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, (list, tuple)):
        return tuple(described(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    return UNKNOWN


def kind_of(value: Any) -> str:
    """An argument in the words of `ops.Kind`."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None:
        return "none"
    if isinstance(value, torch.dtype):
        return "dtype"
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind.__name__
    if isinstance(value, (list, tuple)):
        inside = {kind_of(item) for item in value}
        return "ints" if inside <= {"int"} else "tensors" if inside == {"tensor"} else "other"
    return "other"


def known_of(value: Any) -> ops.Known:
    """What else is known of an argument."""
    if isinstance(value, torch.Tensor):
        return ops.Known(rank=value.dim(), contiguous=value.is_contiguous(), dtype=str(value.dtype))
    if isinstance(value, torch.dtype):
        return ops.Known(value=str(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return ops.Known(value=value)
    return ops.Known()


def read(node: ast.expr, names: dict[str, Any]) -> tuple[str, list[Any], dict[str, Any]]:
    """Spelling and live arguments of the outermost operation of an expression."""

    def live(part: ast.expr) -> Any:
        return eval(ast.unparse(part), names)

    if isinstance(node, ast.IfExp):
        return read(node.body if live(node.test) else node.orelse, names)
    if isinstance(node, ast.BinOp):
        left, right = live(node.left), live(node.right)
        op = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
              ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|"}[type(node.op)]  # fmt: skip
        reflected = not isinstance(left, torch.Tensor)
        return ops.operator_spelling(op, reflected), [right, left] if reflected else [left, right], {}
    if isinstance(node, ast.UnaryOp):
        return ops.operator_spelling("-x" if isinstance(node.op, ast.USub) else "~x"), [live(node.operand)], {}
    if isinstance(node, ast.Compare):
        op = {ast.Eq: "==", ast.Gt: ">"}[type(node.ops[0])]
        return ops.operator_spelling(op), [live(node.left), live(node.comparators[0])], {}
    if isinstance(node, ast.Attribute):
        return f"torch.Tensor.{node.attr}", [live(node.value)], {}
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    args: list[Any] = []
    for one in node.args:
        if isinstance(one, ast.Starred):
            args += live(one.value)
        else:
            args.append(live(one))
    keywords = {str(one.arg): live(one.value) for one in node.keywords}
    root = ast.unparse(node.func.value)
    if root.partition(".")[0] in ("torch", "F") and "(" not in root:
        return f"{root}.{node.func.attr}".replace("F.", "torch.nn.functional.", root == "F"), args, keywords
    return f"torch.Tensor.{node.func.attr}", [live(node.func.value), *args], keywords


def shapes_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape),)
    return tuple(tuple(one.shape) for one in value) if isinstance(value, (tuple, list)) else ((),)


def bind(spelling: str, positional: list[Any], keywords: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Base name and described arguments: by the operation table, else by torch's own schemas."""
    selected = ops.select(
        spelling,
        [kind_of(one) for one in positional],
        {key: kind_of(one) for key, one in keywords.items()},
        {place: known_of(one) for place, one in (*enumerate(positional), *keywords.items())},
    )
    if selected is None:
        return bind_by_schema(spelling, positional, keywords)
    op, binding = selected
    variadic = {one.name for one in op.parameters if one.variadic}
    bound: dict[str, Any] = {}
    for name, place in binding.items():
        if isinstance(place, str):
            bound[name] = described(keywords[place])
        elif name in variadic and not isinstance(positional[place], (tuple, list)):
            bound[name] = described(tuple(positional[place:]))
        else:
            bound[name] = described(positional[place])
    return op.name, bound


VARIADIC = {"einsum": 1, "meshgrid": 0, "block_diag": 0, "cartesian_prod": 0}
"""Functions of `*args`, and how many arguments stand in front of those."""


def bind_by_schema(spelling: str, positional: list[Any], keywords: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    name = spelling.rpartition(".")[2]
    if name.startswith("__"):
        return name, dict(zip(("self", "other"), map(described, positional), strict=True))
    if name in VARIADIC:
        fixed, rest = positional[: VARIADIC[name]], positional[VARIADIC[name] :]
        rest = rest[0] if rest and isinstance(rest[0], (list, tuple)) else rest
        bound = {"equation": fixed[0], "operands": rest} if fixed else {"tensors": rest}
        return name, {key: described(one) for key, one in (*bound.items(), *keywords.items())}
    if name == "fill_diagonal_":
        return name, {"self": described(positional[0])}
    function = pkgutil.resolve_name(spelling if ".Tensor." not in spelling else f"torch.{name}")
    types = tuple(type(one) for one in positional), {key: type(one) for key, one in keywords.items()}
    pair = normalize_function(function, tuple(positional), keywords, *types, normalize_to_only_use_kwargs=True)
    if pair is None:
        return None
    base = "linalg_" + name if ".linalg." in spelling else name
    return base, {key: described(one) for key, one in pair.kwargs.items()}


@pytest.mark.parametrize("call", CALLS)
def test_shape_of_a_call(call: str) -> None:
    torch.manual_seed(0)
    names = namespace()
    spelling, positional, keywords = read(ast.parse(call, mode="eval").body, names)
    bound = bind(spelling, positional, keywords)
    assert bound is not None, spelling
    name, arguments = bound
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true = shapes_of(eval(call, names))
    in_place = spelling.endswith("_") and not spelling.endswith("__")
    inferred = shapes.infer(name.removesuffix("_") + "_" if in_place else name, arguments)
    assert inferred == UNKNOWN_SIZES.get(call, true), (name, arguments)
