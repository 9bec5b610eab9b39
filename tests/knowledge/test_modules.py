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
from typing import Any

import pytest
import torch
from torch.testing._internal.common_modules import module_db

from torchlint.knowledge import modules, shapes
from torchlint.knowledge.modules_table import entries
from torchlint.knowledge.shapes import UNKNOWN, Shape, Sized

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


INFOS = [info for info in module_db if info.module_cls.__module__.startswith("torch.nn.modules")]


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
    assert count


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
    return [*bound.args, *bound.kwargs.values()]


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


SHAPE_UNKNOWN = {  # forwards whose result's shape is not inferred
    *("FractionalMaxPool2d", "FractionalMaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "EmbeddingBag"),
}


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
        elif name in SHAPE_UNKNOWN:
            assert inferred == (None,)
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


def test_names_of_other_things_are_not_found() -> None:
    assert modules.find("torch.nn.Module") is None
    assert modules.find("torch.nn.Parameter") is None
    assert modules.find("torch.nn.functional.relu") is None
    assert modules.find("Linear") is None
