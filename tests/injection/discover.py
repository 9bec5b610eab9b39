"""
Finds Modules of installed packages that run forward and backward, and writes down how: the list in `subjects.jsonl`.

Constructor arguments and inputs are guessed from names and annotations and repaired from torch's messages, as the
runtime mode does it (`torchlint.verify.inputs`). Run once in a while; the list is committed, so that measuring does
not depend on the guesses.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import inspect
import os
import pkgutil
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from torchlint.verify.inputs import Inputs, first_inputs
from torchlint.verify.repairs import repaired

from . import oracle
from .subjects import Subject, mutants

PACKAGES = {
    "timm": ("timm.layers", "timm.models"),
    "transformers": ("transformers.models",),
    "torch_geometric": ("torch_geometric.nn",),
    "kornia": ("kornia",),
    "torchvision": ("torchvision.models", "torchvision.ops"),
    "ultralytics": ("ultralytics.nn",),
    "gpytorch": ("gpytorch",),
    "botorch": ("botorch",),
    "pyro-ppl": ("pyro.nn", "pyro.distributions.transforms"),
    "diffusers": ("diffusers.models",),
    "monai": ("monai.networks", "monai.losses"),
    "vit-pytorch": ("vit_pytorch",),
    "x-transformers": ("x_transformers",),
    "segmentation-models-pytorch": ("segmentation_models_pytorch",),
    "denoising-diffusion-pytorch": ("denoising_diffusion_pytorch",),
    "neuraloperator": ("neuralop.layers", "neuralop.models"),
    "tensorly-torch": ("tltorch",),
    "pytorch-fid": ("pytorch_fid",),
    "speechbrain": ("speechbrain.nnet", "speechbrain.lobes.models"),
    "spandrel": ("spandrel.architectures",),
    "open-clip-torch": ("open_clip",),
    "lightly": ("lightly.models", "lightly.loss"),
    "vector-quantize-pytorch": ("vector_quantize_pytorch",),
    "encodec": ("encodec",),
    "deepctr-torch": ("deepctr_torch",),
    "demucs": ("demucs",),
    "facenet-pytorch": ("facenet_pytorch.models",),
    "piq": ("piq",),
    "local-attention": ("local_attention",),
    "braindecode": ("braindecode.models", "braindecode.modules"),
    "deepinv": ("deepinv.models",),
    "python-doctr": ("doctr.models",),
    "asteroid": ("asteroid.masknn", "asteroid.models", "asteroid.losses"),
    "pytorch-forecasting": ("pytorch_forecasting.models",),
    "torchxrayvision": ("torchxrayvision",),
    "pytorch-tabnet": ("pytorch_tabnet",),
    "perceiver-pytorch": ("perceiver_pytorch",),
    "rtdl-revisiting-models": ("rtdl_revisiting_models",),
    "facexlib": ("facexlib",),
    "conformer": ("conformer",),
    "axial-attention": ("axial_attention",),
    "snac": ("snac",),
    "pykan": ("kan",),
    "reformer-pytorch": ("reformer_pytorch",),
    "pretrainedmodels": ("pretrainedmodels",),
    "segment-anything": ("segment_anything",),
    "dalle2-pytorch": ("dalle2_pytorch",),
    "efficientnet-pytorch": ("efficientnet_pytorch",),
    "egnn-pytorch": ("egnn_pytorch",),
    "linear-attention-transformer": ("linear_attention_transformer",),
    "linformer": ("linformer",),
    "mambapy": ("mambapy",),
    "rtdl-num-embeddings": ("rtdl_num_embeddings",),
    "tabm": ("tabm",),
    "pytorchcv": ("pytorchcv.models",),
    "resselt": ("resselt.archs", "resselt.utilities"),
    "torchcvnn": ("torchcvnn.nn", "torchcvnn.models"),
    "complextorch": ("complextorch.nn", "complextorch.models"),
    "vformer": ("vformer",),
    "torchgan": ("torchgan.models", "torchgan.layers"),
    "self-attention-cv": ("self_attention_cv",),
    "cellseg-models-pytorch": ("cellseg_models_pytorch",),
    "torch-activation": ("torch_activation",),
    "torch-rechub": ("torch_rechub.models", "torch_rechub.basic"),
    "pytorch-toolbelt": ("pytorch_toolbelt.modules", "pytorch_toolbelt.losses"),
}
MOST_MODULES = 120
ATTEMPTS = 40
SIZES = (8, 16, 32, 64, 4, 3)
_WORDS = {
    "stride": "1", "dilation": "1", "groups": "1", "padding": "1", "heads": "2", "num_layers": "2", "depth": "2",
    "blocks": "2", "kernel": "3", "classes": "4", "vocab": "32", "dropout": "0.1", "drop": "0.0", "rate": "0.1",
    "eps": "1e-5", "bias": "True", "act_layer": "torch.nn.ReLU", "norm_layer": "torch.nn.LayerNorm",
    "activation": "torch.nn.ReLU()", "downsample": "None", "layer_idx": "0", "num_relations": "3", "num_bases": "2",
    "edge_dim": "None", "layer_id": "0", "has_bias": "True",
}  # fmt: skip
_INPUTS = {
    "edge_index": "ints(2, 10, below=6)", "edge_attr": "rand(10, {n})", "edge_weight": "rand(10)",
    "edge_type": "ints(10, below=3)", "batch": "torch.tensor([0, 0, 0, 1, 1, 1])",
    "index": "torch.tensor([0, 0, 0, 1, 1, 1])",
    "pos": "rand(6, 3)", "hidden_states": "rand(2, 5, {n})", "input_ids": "ints(2, 5, below=30)",
    "inputs_embeds": "rand(2, 5, {n})", "pixel_values": "rand(2, 3, 32, 32)", "attention_mask": "None",
    "position_embeddings": "(rand(2, 5, 8), rand(2, 5, 8))", "position_ids": "torch.arange(5)[None].expand(2, 5)",
    "cache_position": "None", "past_key_value": "None", "head_mask": "None", "target": "ints(2, below=4)",
    "embeddings": "rand(2, 5, {n})", "query": "rand(2, 5, {n})", "key": "rand(2, 5, {n})", "value": "rand(2, 5, {n})",
}  # fmt: skip
_CONFIG = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "embed_dim": 32, "dim": 32, "num_attention_heads": 4, "n_head": 4,
    "num_key_value_heads": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "intermediate_size": 64,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_hidden_layers": 2, "n_layer": 2, "encoder_layers": 2,
    "decoder_layers": 2, "vocab_size": 99, "image_size": 32, "patch_size": 8, "head_dim": 8, "embedding_size": 32,
    "max_position_embeddings": 64, "projection_dim": 32, "n_heads": 4, "n_layers": 2, "hidden_dim": 64, "d_ff": 64,
    "d_kv": 8, "num_heads": 4, "num_layers": 2, "moe_intermediate_size": 32, "num_experts": 4, "num_local_experts": 4,
    "pad_token_id": 0, "word_embed_proj_dim": 32, "ffn_dim": 64,
}  # fmt: skip


def discover(wanted: dict[str, int], seed: int) -> Iterator[Subject]:
    """Up to the wanted number of Modules of each package, in an order drawn by the seed."""
    for package, most in wanted.items():
        version = importlib.metadata.version(package)
        draw = random.Random(f"{seed}/{package}")
        names = list(dict.fromkeys(name for root in PACKAGES[package] for name in _modules(root)))
        names = [name for name in names if ".test" not in name]
        draw.shuffle(names)
        found = 0
        for name in names[:MOST_MODULES]:
            with contextlib.suppress(Exception, SystemExit):
                module = importlib.import_module(name)
                classes = [cls for cls in vars(module).values() if _suits(cls, module)]
                draw.shuffle(classes)
                taken = 0
                for cls in classes:
                    if found == most or taken == 3:
                        break
                    subject = Subject(f"{package}=={version}", name, cls.__name__, "", {})
                    answer = oracle.in_child(_find, cls, subject, seconds=20)
                    if answer and answer.get("construct"):
                        found, taken = found + 1, taken + 1
                        yield Subject(**answer)
            if found == most:
                break


def _modules(root: str) -> list[str]:
    with contextlib.suppress(Exception):
        package = importlib.import_module(root)
        paths = getattr(package, "__path__", None)
        names = [root]
        if paths is not None:
            names += [m.name for m in pkgutil.walk_packages(paths, f"{root}.", onerror=lambda name: None)]
        if root == "transformers.models":
            return [name for name in names if ".modeling_" in name and "_tf_" not in name and "_flax_" not in name]
        return names
    return []


def _suits(cls: object, module: Any) -> bool:
    """A Module of this file whose own `forward` assigns to a name."""
    if not (inspect.isclass(cls) and issubclass(cls, nn.Module) and cls.__module__ == module.__name__):
        return False
    if "forward" not in cls.__dict__ or module.__file__ is None:
        return False
    with open(module.__file__, encoding="utf-8") as file:
        return bool(mutants(file.read(), Subject("", module.__name__, cls.__name__, "", {}), 0, 1))


def _find(cls: type[Any], subject: Subject) -> dict[str, Any]:
    torch.set_num_threads(1)
    attempts = 0
    for construct, size in _constructions(cls):
        scope = {**vars(sys.modules[cls.__module__]), **oracle.vocabulary(True)}
        try:
            torch.manual_seed(0)
            module = eval(construct, scope)
        except Exception:
            continue
        if sum(parameter.numel() for parameter in module.parameters()) > 3_000_000:
            continue
        waiting = _first(module, size)
        tried: list[dict[str, str]] = []
        while waiting and attempts < ATTEMPTS:
            inputs = waiting.pop(0)
            if inputs in tried:
                continue
            tried.append(inputs)
            attempts += 1
            candidate = Subject(subject.package, subject.module, subject.name, construct, inputs)
            outcome = oracle.run(candidate, requires_grad=True)
            if outcome.verdict == "ok" and outcome.differentiated:
                if oracle.run(candidate, requires_grad=False).verdict == "ok":
                    return asdict(candidate)
                break
            waiting = _repaired(inputs, outcome.message) + waiting
    return {}


def _constructions(cls: type[Any]) -> Iterator[tuple[str, int]]:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return
    required = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    configs = [p for p in required if p.name in ("config", "vision_config", "text_config")]
    if configs:
        module = sys.modules[cls.__module__]
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__name__.endswith("Config") and "PretrainedConfig" in str(kind.__mro__):
                with contextlib.suppress(Exception):
                    default = kind()
                    settings = {k: v for k, v in _CONFIG.items() if isinstance(getattr(default, k, None), int)}
                    words = ", ".join([kind.__name__, *(f"{k}={v}" for k, v in settings.items())])
                    others = [f"{p.name}={_argument(p, 32)}" for p in required if p not in configs]
                    arguments = [f"{p.name}=config({words})" for p in configs]
                    yield f"{cls.__name__}({', '.join([*arguments, *others])})", 32
        return
    seen = set()
    for size in SIZES:
        words = ", ".join(f"{p.name}={_argument(p, size)}" for p in required)
        if words not in seen:
            seen.add(words)
            yield f"{cls.__name__}({words})", size


def _argument(parameter: inspect.Parameter, size: int) -> str:
    name = parameter.name.lower()
    kind = "" if parameter.annotation is parameter.empty else str(parameter.annotation)
    for word, text in _WORDS.items():
        if word in name:
            return text
    if "Module" in kind or name in ("encoder", "decoder", "backbone", "model", "module", "net", "nn"):
        return f"torch.nn.Linear({size}, {size})"
    if "int" in kind and ("List" in kind or "list" in kind or "Sequence" in kind):
        return f"[{size}, {size}]"
    if "bool" in kind:
        return "False"
    if "float" in kind:
        return "0.5"
    if "Tensor" in kind:
        return f"torch.rand({size})"
    return str(size)


def _first(module: nn.Module, size: int) -> list[dict[str, str]]:
    parameters = inspect.signature(module.forward).parameters.values()
    required = [
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    names = [p.name for p in parameters]
    if not required:
        usual = ("hidden_states", "input_ids", "inputs_embeds", "pixel_values")
        required = [name for name in usual if name in names][:1]
    if "edge_index" in required:
        found = [{name: _INPUTS.get(name, "rand(6, {n})").format(n=size) for name in required}]
        return [*found, {**found[0], "edge_attr": "None"}] if "edge_attr" in required else found
    if any(name in _INPUTS for name in required):
        return [
            {name: _INPUTS.get(name, floats).format(n=size) for name in required}
            for floats in ("rand(2, 5, {n})", "None", "rand(2, {n})", "torch.ones(2, 5)", "rand(6, {n})")
        ]
    guesses = first_inputs(module.forward, module)
    return [_written(inputs) for inputs in guesses if inputs.names and not inputs.others]


def _written(inputs: Inputs) -> dict[str, str]:
    shapes = {name: ", ".join(map(str, shape)) for name, shape in inputs.shapes}
    shape = ", ".join(map(str, inputs.shape))
    floats = {name: f"rand({shapes.get(name, shape)})" for name in inputs.names}
    return floats | {name: f"ints({shapes.get(name, shape)}, below={inputs.limit})" for name in inputs.integers}


def _repaired(inputs: dict[str, str], message: str) -> list[dict[str, str]]:
    """What torch's message asks for, where all inputs are floats of one shape."""
    texts = set(inputs.values())
    if len(texts) != 1 or not next(iter(texts)).startswith("rand("):
        return []
    numbers = next(iter(texts))[5:-1]
    shape = tuple(int(number) for number in numbers.split(",") if number.strip())
    return [_written(each) for each in repaired(Inputs(shape, tuple(inputs)), message)]


def main(wanted: dict[str, int], seed: int, packages: str) -> list[Subject]:
    """Find, and say how it goes on standard error."""
    oracle.prepare(packages)
    found = []
    os.environ["TQDM_DISABLE"] = "1"
    for subject in discover(wanted, seed):
        print(len(found), subject.module, subject.construct, subject.inputs, file=sys.stderr, flush=True)
        found.append(subject)
    return found
