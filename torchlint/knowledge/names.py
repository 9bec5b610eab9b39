"""
Under which names torch offers one and the same thing: `torch.nn.Parameter` is `torch.nn.parameter.Parameter`, too.

Who compares a qualified name asks these sets, so that no name is forgotten in one place. What a thing does is told
elsewhere. `tests/knowledge/test_names.py` holds each set against the installed torch.
"""

from __future__ import annotations

from typing import Final

AUTOGRAD_FUNCTION: Final = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
"""What a custom Function derives from."""
VARIABLE: Final = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
PARAMETER: Final = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
MODULE: Final = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})
DATA_LOADER: Final = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
DATASET: Final = frozenset({"torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset"})
ITERABLE_DATASET: Final = frozenset({"torch.utils.data.IterableDataset", "torch.utils.data.dataset.IterableDataset"})
TENSOR_DATASET: Final = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
SUBSET: Final = frozenset({"torch.utils.data.Subset", "torch.utils.data.dataset.Subset"})
RANDOM_SPLIT: Final = frozenset({"torch.utils.data.random_split", "torch.utils.data.dataset.random_split"})
DISTRIBUTED_SAMPLER: Final = frozenset(
    {"torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"}
)
DISTRIBUTED_DATA_PARALLEL: Final = frozenset(
    {"torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel"}
)
VECTOR_TO_PARAMETERS: Final = frozenset(
    {"torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters"}
)
PARAMETERS_TO_VECTOR: Final = frozenset(
    {"torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector"}
)
CLIP_GRAD_NORM: Final = frozenset({"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad.clip_grad_norm_"})
NO_GRAD: Final = frozenset({"torch.no_grad", "torch.autograd.no_grad", "torch.autograd.grad_mode.no_grad"})
ENABLE_GRAD: Final = frozenset(
    {"torch.enable_grad", "torch.autograd.enable_grad", "torch.autograd.grad_mode.enable_grad"}
)
INFERENCE_MODE: Final = frozenset(
    {"torch.inference_mode", "torch.autograd.inference_mode", "torch.autograd.grad_mode.inference_mode"}
)
SET_GRAD_ENABLED: Final = frozenset(
    {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled"}
)
