"""
The classes of `torch.nn` against running torch: constructors, parameters, buffers, and forwards run call by call.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing._internal.common_modules import module_db

from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.modules.table import entries
from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.infer import UNKNOWN, Shape, Sized

ABSTRACT = {"Module", "Container", "RNNBase", "RNNCellBase", "LinearCrossEntropyOptions"}
SAMPLES = 12
RECURRENT = {"RNN", "GRU", "LSTM"}
PUBLIC = sorted(name for name in torch.nn.modules.__all__ if name not in ABSTRACT)


def kind_of(name: str) -> modules.ModuleKind:
    kind = modules.find(f"torch.nn.{name}")
    assert kind is not None
    return kind


def described(value: Any) -> object:
    if isinstance(value, torch.Tensor):
        return Sized(tuple(value.shape))
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(described(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    return UNKNOWN


@pytest.mark.parametrize("name", PUBLIC)
def test_constructor_has_torchs_signature(name: str) -> None:
    if name in RECURRENT:
        pytest.skip("takes *args; the documented signature is tested by building one")
    kinds = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
        inspect.Parameter.KEYWORD_ONLY: "keyword-only",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    }
    true = list(inspect.signature(getattr(torch.nn, name).__init__).parameters.values())[1:]
    have = kind_of(name).signature
    assert [(one.name, one.kind) for one in have] == [(one.name, kinds[one.kind]) for one in true]
    for mine, one in zip(have, true, strict=True):
        if one.default is inspect.Parameter.empty:
            assert mine.required == (mine.kind in ("positional", "keyword-only"))
        else:
            assert mine.default == (UNKNOWN if callable(one.default) else one.default)


@pytest.mark.parametrize("name", sorted(modules.names()))
def test_described_class_exists(name: str) -> None:
    live = getattr(torch.nn, name)
    kind = kind_of(name)
    assert modules.find(f"{live.__module__}.{name}") == kind
    assert modules.find(f"torch.nn.functional.{name}") is None


def written(node: ast.expr) -> str:
    """What stands for a parameter, by its bare name: `self.p`, `p` and `float(self.p)` are all "p"."""
    while isinstance(node, ast.Call):
        node = node.args[0]
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


INHERITED = {"ReLU6", "UpsamplingNearest2d", "UpsamplingBilinear2d"}  # their constructors fix some of the arguments
RENAMED = {
    "norm": "p",
    "log_input": "input",
    "x": "input",
}  # attribute or forward parameter of torch: name in the table


@pytest.mark.parametrize("name", [name for name, entry in entries().items() if entry.call])
def test_call_is_the_one_in_torchs_forward(name: str) -> None:
    """The text of the table against the text of torch's `forward`: the same function, the same argument everywhere."""
    entry = entries()[name]
    source = ast.parse(textwrap.dedent(inspect.getsource(getattr(torch.nn, name).forward))).body[0]
    assert isinstance(source, ast.FunctionDef)
    assert len(source.args.args) - 1 == len(entry.inputs.split(","))
    true = next(node.value for node in source.body if isinstance(node, ast.Return))
    mine = ast.parse(entry.call, mode="eval").body
    assert isinstance(true, ast.Call)
    assert isinstance(mine, ast.Call)
    assert ast.unparse(mine.func).rpartition(".")[2] == ast.unparse(true.func).rpartition(".")[2]

    given = {**{written(one): one for one in mine.args}, **{str(one.arg): one.value for one in mine.keywords}}
    function = getattr(torch.nn.functional, ast.unparse(true.func).rpartition(".")[2], None)
    try:
        parameters = list(inspect.signature(function).parameters) if function else []
    except ValueError:
        parameters = []
    if "args" in parameters:  # like a builtin's, the true signature is hidden: running the call tests the names
        parameters = []
    expected = {**dict(zip(parameters, true.args, strict=False)), **{str(one.arg): one.value for one in true.keywords}}
    for parameter, value in expected.items():
        if parameter == "_stacklevel" or name in INHERITED:
            continue
        text = written(value)
        assert written(given[parameter]) in (text, RENAMED.get(text)) or name.startswith("ZeroPad")


def samples(info: Any, training: bool) -> Iterator[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]]:
    """Live module, how it was built, and the arguments of its forward."""
    torch.manual_seed(0)
    generated = info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True, training=training)
    for sample in itertools.islice(generated, SAMPLES):
        made, given = sample.constructor_input, sample.forward_input
        torch.manual_seed(1)
        module = info.module_cls(*made.args, **made.kwargs).train(training)
        if given is not None:
            yield module.to(torch.float64), made, tuple(given.args), dict(given.kwargs)


def plain_name(info: Any) -> str:
    return str(info.module_cls.__name__)


def sized(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float64, requires_grad=True)


def pooled() -> tuple[torch.Tensor, ...]:
    return torch.nn.functional.max_pool2d(sized(1, 2, 4, 4), 2, return_indices=True)


MORE: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("AdaptiveLogSoftmaxWithLoss", (8, 10, [2, 5]), {}, lambda: (sized(3, 8), torch.tensor([0, 3, 9]))),
    ("AdaptiveLogSoftmaxWithLoss", (16, 12, [3]), {"head_bias": True, "div_value": 2.0},
     lambda: (sized(2, 16), torch.tensor([0, 11]))),
    *((name, (0.3,), {}, lambda: (sized(2, 3, 4, 4, 4),)) for name in ("Dropout", "Dropout3d", "AlphaDropout")),
    *((name, (), {}, lambda: (sized(2, 3, 4, 4),)) for name in ("Dropout2d", "FeatureAlphaDropout", "Identity")),
    ("Dropout", (), {"p": 0.2, "inplace": True}, lambda: (sized(2, 3) * 1,)),
    ("Dropout1d", (0.5,), {}, lambda: (sized(2, 3, 4),)),
    ("ChannelShuffle", (2,), {}, lambda: (sized(1, 4, 2, 2),)),
    ("CosineSimilarity", (), {}, lambda: (sized(3, 4), sized(3, 4))),
    ("CosineSimilarity", (0,), {"eps": 1e-6}, lambda: (sized(3, 4), sized(3, 4))),
    ("CrossMapLRN2d", (2,), {}, lambda: (sized(1, 3, 2, 2),)),
    ("EmbeddingBag", (5, 3), {}, lambda: (torch.tensor([[0, 2], [1, 4]]),)),
    ("EmbeddingBag", (5, 3), {"mode": "sum"}, lambda: (torch.tensor([0, 2, 1, 4]), torch.tensor([0, 2, 3]))),
    ("EmbeddingBag", (5, 3), {"include_last_offset": True}, lambda: (torch.tensor([0, 2, 1]), torch.tensor([0, 2, 3]))),
    ("Flatten", (), {}, lambda: (sized(2, 3, 4),)),
    ("Flatten", (0, 1), {}, lambda: (sized(2, 3, 4),)),
    ("Unflatten", (1, (2, 3)), {}, lambda: (sized(2, 6, 4),)),
    ("Fold", ((4, 5), (2, 2)), {}, lambda: (sized(1, 12, 12),)),
    ("Fold", (4, 2), {"stride": 2}, lambda: (sized(1, 12, 4),)),
    ("Unfold", (2,), {"padding": 1}, lambda: (sized(1, 3, 4, 5),)),
    ("Hardsigmoid", (), {}, lambda: (sized(2, 3),)),
    ("Hardsigmoid", (True,), {}, lambda: (sized(2, 3) * 1,)),
    *((f"LazyBatchNorm{n}d", (), {}, lambda n=n: (sized(*[4, 3, 2, 2, 2][: n + 2]),)) for n in (1, 2, 3)),
    *((f"LazyInstanceNorm{n}d", (), {}, lambda n=n: (sized(*[4, 3, 2, 2, 2][: n + 2]),)) for n in (1, 2, 3)),
    ("LazyLinear", (4,), {}, lambda: (sized(2, 3),)),
    ("LazyLinear", (4, False), {}, lambda: (sized(2, 3),)),
    ("MaxUnpool1d", (2,), {}, lambda: torch.nn.functional.max_pool1d(sized(1, 2, 6), 2, return_indices=True)),
    ("MaxUnpool2d", (2,), {}, pooled),
    ("MaxUnpool2d", (2,), {}, lambda: (*pooled(), (5, 4))),
    ("MaxUnpool3d", (2,), {}, lambda: torch.nn.functional.max_pool3d(sized(1, 2, 4, 4, 4), 2, return_indices=True)),
    ("NLLLoss2d", (), {"reduction": "none"}, lambda: (sized(2, 3, 4, 4), torch.zeros(2, 4, 4, dtype=torch.long))),
    ("PairwiseDistance", (), {}, lambda: (sized(3, 4), sized(3, 4))),
    ("PairwiseDistance", (1.0,), {"keepdim": True}, lambda: (sized(3, 4), sized(3, 4))),
    ("PixelShuffle", (2,), {}, lambda: (sized(1, 8, 2, 3),)),
    ("PixelUnshuffle", (2,), {}, lambda: (sized(1, 2, 4, 6),)),
    ("RReLU", (), {}, lambda: (sized(2, 3) - 0.5,)),
    ("SyncBatchNorm", (3,), {}, lambda: None),
    ("TransformerDecoder", (torch.nn.TransformerDecoderLayer(4, 2), 1), {}, lambda: (sized(5, 2, 4), sized(6, 2, 4))),
    ("TripletMarginLoss", (), {}, lambda: (sized(3, 4), sized(3, 4), sized(3, 4))),
    ("TripletMarginLoss", (), {"reduction": "none", "swap": True}, lambda: (sized(3, 4), sized(3, 4), sized(3, 4))),
    ("TripletMarginWithDistanceLoss", (), {"reduction": "none"}, lambda: (sized(3, 4), sized(3, 4), sized(3, 4))),
    ("Upsample", (), {"scale_factor": 2}, lambda: (sized(1, 2, 3, 4),)),
    ("Upsample", ((5, 7),), {"mode": "bilinear", "align_corners": True}, lambda: (sized(1, 2, 3, 4),)),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, lambda: (sized(1, 2, 3, 4),)),
    ("UpsamplingBilinear2d", ((5, 5),), {}, lambda: (sized(1, 2, 3, 4),)),
    ("Conv2d", (3, 4, 3), {"padding": "same", "padding_mode": "circular", "dilation": 2}, lambda: (sized(1, 3, 8, 8),)),
    ("Conv2d", (3, 4, (3, 2)), {"padding": (2, 1), "padding_mode": "reflect"}, lambda: (sized(1, 3, 8, 8),)),
    ("Conv1d", (3, 4, 2), {"padding": "same", "padding_mode": "replicate"}, lambda: (sized(1, 3, 8),)),
    ("Conv1d", (3, 4, 2), {"padding": "valid", "padding_mode": "circular"}, lambda: (sized(1, 3, 8),)),
]  # fmt: skip


def more_info(case: tuple[str, tuple[Any, ...], dict[str, Any], Any]) -> SimpleNamespace:
    """A case of `MORE` in the form of torch's `ModuleInfo`."""
    name, args, kwargs, inputs = case

    def module_inputs(*_: Any, **__: Any) -> list[SimpleNamespace]:
        given = inputs()
        forward = None if given is None else SimpleNamespace(args=given, kwargs={})
        return [SimpleNamespace(constructor_input=SimpleNamespace(args=args, kwargs=kwargs), forward_input=forward)]

    return SimpleNamespace(name=f"more.{name}", module_cls=getattr(torch.nn, name), module_inputs_func=module_inputs)


INFOS = [
    *(info for info in module_db if info.module_cls.__module__.startswith("torch.nn.modules")),
    *map(more_info, MORE),
]


def test_every_class_with_a_forward_is_tested() -> None:
    tested = {info.module_cls.__name__ for info in INFOS}
    assert modules.names() - tested == {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_parameters_and_buffers(info: Any) -> None:
    kind = kind_of(plain_name(info))
    count = 0
    for module, made, _, _ in samples(info, training=True):
        config = kind.bind([described(one) for one in made.args], {k: described(v) for k, v in made.kwargs.items()})
        lazy = isinstance(module, torch.nn.modules.lazy.LazyModuleMixin)
        check_tensors(kind.parameters(config), dict(module.named_parameters()), lazy, kind.container or config)
        check_tensors(kind.buffers(config), dict(module.named_buffers()), lazy, kind.container or config)
        if any(True for _ in module.parameters()):
            assert kind.trainable
        assert not kind.uncertain(config)
        count += 1
    assert count or kind.name == "SyncBatchNorm"  # it has no CPU forward, so there is no sample to build it for


def check_tensors(have: tuple[tuple[str, Shape], ...], true: dict[str, torch.Tensor], lazy: bool, config: Any) -> None:
    passed_in = isinstance(config, dict) and any(name in config for name in ("encoder_layer", "decoder_layer"))
    if passed_in:
        assert have == ()
        return
    assert [name for name, _ in have] == list(true)
    if not lazy:
        assert dict(have) == {name: tuple(tensor.shape) for name, tensor in true.items()}


def run(application: modules.Application, module: Any, inputs: list[Any], results: dict[str, Any]) -> Any:
    """One call of a described forward, on live tensors."""

    def live(operand: Any) -> Any:
        if isinstance(operand, modules.Input):
            return inputs[operand.index]
        if isinstance(operand, modules.Own):
            return getattr(module, operand.name)
        if isinstance(operand, modules.Result):
            return results[operand.name]
        if operand.value is UNKNOWN:  # the momentum of a cumulative average: known only while running
            assert module.momentum is None
            return 1.0 / float(module.num_batches_tracked)
        return operand.value

    function: Any = torch
    for part in application.spelling.split(".")[1:]:
        function = getattr(function, part)
    given = {
        name: live(operand)
        for name, operand in (*application.arguments, *application.keywords)
        if not (isinstance(operand, modules.Input) and operand.index >= len(inputs))
    }
    receiver = [given.pop("self")] if "self" in given else []
    return function(*receiver, **given)


def forward_inputs(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    if bound.kwargs:  # an argument given by name behind one that was left out
        bound.apply_defaults()
    return list(bound.args)


def saved_by(function: Any) -> tuple[Any, list[torch.Tensor]]:
    saved: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved.append(tensor)
        return tensor

    torch.manual_seed(7)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        return function(), saved


def infer_call(application: modules.Application, module: Any, inputs: list[Any], known: dict[str, Shape]) -> Any:
    def told(operand: Any) -> object:
        if isinstance(operand, modules.Input):
            return described(inputs[operand.index])
        if isinstance(operand, modules.Own):
            return described(getattr(module, operand.name))
        if isinstance(operand, modules.Result):
            return Sized(known[operand.name])
        return operand.value

    given = {
        name: told(operand)
        for name, operand in (*application.arguments, *application.keywords)
        if not (isinstance(operand, modules.Input) and operand.index >= len(inputs))
    }
    return shapes.infer(application.spelling.rpartition(".")[2], given)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_forward_by_calls_is_forward(info: Any, training: bool) -> None:
    """The calls, run one by one, give equal results, save tensors of the same sizes, and have the inferred shape."""
    name = plain_name(info)
    kind = kind_of(name)
    for module, made, args, kwargs in samples(info, training):
        config = kind.bind([described(one) for one in made.args], {k: described(v) for k, v in made.kwargs.items()})
        live_config = kind.bind(made.args, made.kwargs)
        if any(callable(value) for value in live_config.values()):
            config = {**config, **{key: value for key, value in live_config.items() if callable(value)}}
        calls = kind.forward(config, training, [one.shape if isinstance(one, torch.Tensor) else None for one in args])
        if calls is None:
            assert kind.opaque(config) is not None
            continue
        if isinstance(module, torch.nn.modules.lazy.LazyModuleMixin):
            with torch.no_grad():
                module(*args, **kwargs)
        inputs = forward_inputs(module, args, kwargs)
        state = {key: value.clone() for key, value in module.state_dict().items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
            true, true_saved = saved_by(lambda module=module, fresh=fresh: module(*fresh))
            after = {key: value.clone() for key, value in module.state_dict().items()}
            module.load_state_dict(state)
            again = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
            results: dict[str, Any] = {}
            known: dict[str, Shape] = {}
            inferred: tuple[Shape, ...] = (None,)

            def by_calls(calls: Any = calls, module: Any = module, again: Any = again, results: Any = results) -> Any:
                output = again[0]
                for one in calls:
                    output = results[one.result] = run(one, module, again, results)
                return output

            mine, my_saved = saved_by(by_calls)
        for one in calls:
            inferred = infer_call(one, module, inputs, known)
            known[one.result] = inferred[0]
        torch.testing.assert_close(mine, true, equal_nan=True)
        torch.testing.assert_close(dict(module.state_dict()), after)
        assert [tuple(one.shape) for one in my_saved] == [tuple(one.shape) for one in true_saved]
        outputs = true if isinstance(true, tuple) else (true,)
        if not calls:
            assert mine is again[0]
        else:
            assert inferred == tuple(tuple(one.shape) for one in outputs)


def structure_of(value: Any) -> Any:
    return "tensor" if isinstance(value, torch.Tensor) else tuple(structure_of(one) for one in value)


def leaves(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else [leaf for one in value for leaf in leaves(one)]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "info", [info for info in INFOS if kind_of(plain_name(info)).opaque({}) is not None], ids=lambda info: info.name
)
def test_opaque_outputs(info: Any, training: bool) -> None:
    kind = kind_of(plain_name(info))
    for module, made, args, kwargs in samples(info, training):
        config = kind.bind([described(one) for one in made.args], {k: described(v) for k, v in made.kwargs.items()})
        opaque = kind.opaque(config)
        assert opaque is not None
        inputs = forward_inputs(module, args, kwargs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = module(*args, **kwargs)
        given = [tuple(one.shape) if isinstance(one, torch.Tensor) else None for one in inputs]
        told = kind.output_shape(config, given)
        if "unknown" in opaque.structure:
            assert isinstance(output, tuple)
            assert told[0] == tuple(output[0].shape)
            continue
        assert opaque.structure == structure_of(output)
        if told != (None,):
            assert told == tuple(tuple(one.shape) for one in leaves(output))


SAVING = {
    "RNN": (lambda: torch.nn.RNN(3, 4, num_layers=2), [(5, 2, 3), (2, 2, 4)]),
    "GRU": (lambda: torch.nn.GRU(3, 4, bidirectional=True), [(5, 2, 3), (2, 2, 4)]),
    "LSTM": (lambda: torch.nn.LSTM(3, 4), [(5, 2, 3), [(1, 2, 4), (1, 2, 4)]]),
    "RNNCell": (lambda: torch.nn.RNNCell(3, 4, nonlinearity="relu"), [(2, 3), (2, 4)]),
    "GRUCell": (lambda: torch.nn.GRUCell(3, 4), [(2, 3), (2, 4)]),
    "LSTMCell": (lambda: torch.nn.LSTMCell(3, 4), [(2, 3), [(2, 4), (2, 4)]]),
    "MultiheadAttention": (lambda: torch.nn.MultiheadAttention(4, 2, kdim=3), [(5, 2, 4), (6, 2, 3), (6, 2, 4)]),
    "TransformerEncoderLayer": (lambda: torch.nn.TransformerEncoderLayer(4, 2), [(5, 2, 4)]),
    "TransformerDecoderLayer": (lambda: torch.nn.TransformerDecoderLayer(4, 2), [(5, 2, 4), (5, 2, 4)]),
}


@pytest.mark.parametrize("name", sorted(SAVING))
def test_saved_arguments_of_opaque_forwards(name: str) -> None:
    """Each argument that is said to be saved, overwritten after the call, breaks the backward."""
    build, sizes = SAVING[name]
    opaque = kind_of(name).opaque({})
    assert opaque is not None
    assert opaque.saves
    assert kind_of(name).opaque({"batch_first": True}) == modules.Opaque(opaque.structure, (), opaque.saves_result)
    for position in opaque.saves:
        pair = isinstance(sizes[position], list)
        for part in range(2 if pair else 1):
            torch.manual_seed(0)
            inputs = [tuple(map(torch.rand, one)) if isinstance(one, list) else torch.rand(one) for one in sizes]
            output = build()(*inputs)
            target: Any = inputs[position][part] if pair else inputs[position]
            target.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                torch.stack([leaf.sum() for leaf in leaves(output)]).sum().backward()
    if opaque.saves_result:
        output = build()(*[torch.rand(one) for one in sizes])
        with torch.no_grad():
            output.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()


@pytest.mark.parametrize(
    ("name", "positional", "keywords", "expected"),
    [
        ("Linear", [2, 3], {}, {"in_features": 2, "out_features": 3, "bias": True, "device": None, "dtype": None}),
        ("Linear", [2], {"out_features": 3, "bias": False}, {"in_features": 2, "out_features": 3, "bias": False}),
        ("Conv2d", [3, 8, 5], {"padding": "same"}, {"kernel_size": 5, "stride": 1, "padding": "same"}),
        ("LSTM", [4, 5], {"batch_first": True}, {"input_size": 4, "num_layers": 1, "batch_first": True}),
        ("Linear", [2], {}, {"in_features": 2, "out_features": UNKNOWN}),
        ("Linear", [2, 3, True, None, None, "surplus"], {}, {"out_features": 3}),
        ("Sequential", [1, 2], {}, {"args": (1, 2)}),
        ("Identity", [1], {"anything": 2}, {"args": (1,), "kwargs": {"anything": 2}}),
        ("TransformerEncoderLayer", [8, 2], {}, {"d_model": 8, "activation": UNKNOWN}),
    ],
)
def test_binding(name: str, positional: list[object], keywords: dict[str, object], expected: dict[str, object]) -> None:
    config = kind_of(name).bind(positional, keywords)
    assert set(config) == {argument.name for argument in kind_of(name).signature}
    assert expected.items() <= config.items()


def operand(calls: tuple[modules.Application, ...] | None, name: str) -> object:
    assert calls is not None
    return dict((*calls[-1].arguments, *calls[-1].keywords))[name]


def test_what_is_unknown_of_a_constructor_stays_unknown() -> None:
    linear = kind_of("Linear")
    config = linear.bind([UNKNOWN, 3, UNKNOWN], {})
    assert linear.parameters(config) == (("weight", (3, None)),)
    assert linear.uncertain(config) == {"bias"}
    assert operand(linear.forward(config, True), "weight") == modules.Own("weight")
    assert operand(linear.forward(config, True), "bias") == modules.Value(UNKNOWN)
    config = linear.bind([2, 3], {"bias": False})
    assert operand(linear.forward(config, True), "bias") == modules.Value(None)
    assert linear.uncertain(config) == frozenset()

    convolution = kind_of("Conv2d")
    config = convolution.bind([3, 8, UNKNOWN], {"groups": 3})
    assert convolution.parameters(config) == (("weight", (8, 1, None, None)), ("bias", (8,)))
    assert convolution.forward({**config, "padding_mode": UNKNOWN}, True) is None
    loss = kind_of("MSELoss")
    assert operand(loss.forward(loss.bind([], {"reduction": UNKNOWN}), True), "reduction") == modules.Value(UNKNOWN)
    assert operand(loss.forward(loss.bind([], {"size_average": False}), True), "reduction") == modules.Value("sum")
    weighted = kind_of("CrossEntropyLoss")
    assert weighted.uncertain(weighted.bind([UNKNOWN], {})) == {"weight"}
    assert not weighted.trainable


def test_the_mode_decides_what_batch_norm_does() -> None:
    norm = kind_of("BatchNorm2d")
    config = norm.bind([4], {})
    training = norm.forward(config, True)
    assert training is not None
    assert [call.spelling.rpartition(".")[2] for call in training] == ["add_", "batch_norm"]
    assert operand(training, "training") == modules.Value(True)
    assert operand(norm.forward(config, False), "training") == modules.Value(False)
    assert operand(norm.forward(config, None), "training") == modules.Value(UNKNOWN)
    untracked = norm.bind([4], {"track_running_stats": False})
    assert operand(norm.forward(untracked, None), "training") == modules.Value(True)
    assert operand(norm.forward(untracked, False), "running_mean") == modules.Value(None)
    assert operand(kind_of("Dropout").forward({"p": 0.5, "inplace": False}, None), "training") == modules.Value(UNKNOWN)


@pytest.mark.parametrize("name", [name for name in sorted(modules.names()) if name not in RECURRENT])
def test_inplace_switch(name: str) -> None:
    kind = kind_of(name)
    switched = any(argument.name == "inplace" for argument in kind.signature)
    assert kind.inplace(kind.bind([], {})) is False
    ignored = name in ("AlphaDropout", "FeatureAlphaDropout")
    if switched:
        assert kind.inplace({"inplace": True}) is (not ignored)
        assert kind.inplace({"inplace": UNKNOWN}) is (False if ignored else None)


@pytest.mark.parametrize(
    ("name", "container"),
    [("Sequential", "sequential"), ("ModuleList", "list"), ("ModuleDict", "dict"), ("ParameterList", "parameters"),
     ("ParameterDict", "parameters"), ("Linear", "")],
)  # fmt: skip
def test_containers(name: str, container: str) -> None:
    kind = kind_of(name)
    assert kind.container == container
    assert kind.trainable
    if container:
        assert kind.forward(kind.bind([], {}), True) is None
        assert kind.opaque(kind.bind([], {})) is None


def test_names_of_other_things_are_not_found() -> None:
    assert modules.find("torch.nn.Module") is None
    assert modules.find("torch.nn.Parameter") is None
    assert modules.find("torch.nn.functional.relu") is None
    assert modules.find("Linear") is None


@pytest.mark.parametrize("base", PUBLIC)
def test_what_derives_from_a_class_is_what_torch_says(base: str) -> None:
    for name in PUBLIC:
        derives = modules.derives(name, base)
        assert derives is None or derives == issubclass(getattr(torch.nn, name), getattr(torch.nn, base)), name
