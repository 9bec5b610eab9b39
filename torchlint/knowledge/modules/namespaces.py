"""
Which classes of Modules stand in the files of `torch.nn.modules`, for programs that look a class up among them.

Holds names alone: what a class is, `find` says. Those that a file imports from another one are among its names, too.

References
----------
`torch/nn/modules/*.py` of torch 2.13; held against the installed torch in `tests/knowledge/test_namespaces.py`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

__all__ = ["classes", "is_class"]

_TEXT: Final = """
activation:
    NonDynamicallyQuantizableLinear Module Threshold ReLU RReLU Hardtanh ReLU6 Sigmoid Hardsigmoid Tanh SiLU
    Mish Hardswish ELU CELU SELU GLU GELU Hardshrink LeakyReLU LogSigmoid Softplus Softshrink MultiheadAttention
    PReLU Softsign Tanhshrink Softmin Softmax Softmax2d LogSoftmax
adaptive:
    ModuleList Sequential Linear Module AdaptiveLogSoftmaxWithLoss
batchnorm:
    Module _NormBase _BatchNorm _LazyNormBase BatchNorm1d LazyBatchNorm1d BatchNorm2d LazyBatchNorm2d
    BatchNorm3d LazyBatchNorm3d SyncBatchNorm
channelshuffle:
    Module ChannelShuffle
container:
    Module Container Sequential ModuleList ModuleDict ParameterList ParameterDict
conv:
    Module _ConvNd Conv1d Conv2d Conv3d _ConvTransposeNd ConvTranspose1d ConvTranspose2d ConvTranspose3d
    _ConvTransposeMixin LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d
    LazyConvTranspose3d
distance:
    Module PairwiseDistance CosineSimilarity
dropout:
    Module _DropoutNd Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout
flatten:
    Module Flatten Unflatten
fold:
    Module Fold Unfold
instancenorm:
    _LazyNormBase _NormBase _InstanceNorm InstanceNorm1d LazyInstanceNorm1d InstanceNorm2d LazyInstanceNorm2d
    InstanceNorm3d LazyInstanceNorm3d
linear:
    Module Identity Linear NonDynamicallyQuantizableLinear Bilinear LazyLinear
loss:
    PairwiseDistance Linear Module _Loss _WeightedLoss L1Loss NLLLoss NLLLoss2d PoissonNLLLoss GaussianNLLLoss
    KLDivLoss MSELoss BCELoss BCEWithLogitsLoss HingeEmbeddingLoss MultiLabelMarginLoss SmoothL1Loss HuberLoss
    SoftMarginLoss CrossEntropyLoss LinearCrossEntropyLoss MultiLabelSoftMarginLoss CosineEmbeddingLoss
    MarginRankingLoss MultiMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss
normalization:
    Module LocalResponseNorm CrossMapLRN2d LayerNorm GroupNorm RMSNorm
padding:
    Module _CircularPadNd CircularPad1d CircularPad2d CircularPad3d _ConstantPadNd ConstantPad1d ConstantPad2d
    ConstantPad3d _ReflectionPadNd ReflectionPad1d ReflectionPad2d ReflectionPad3d _ReplicationPadNd
    ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d
pixelshuffle:
    Module PixelShuffle PixelUnshuffle
pooling:
    Module _MaxPoolNd MaxPool1d MaxPool2d MaxPool3d _MaxUnpoolNd MaxUnpool1d MaxUnpool2d MaxUnpool3d _AvgPoolNd
    AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d _LPPoolNd LPPool1d LPPool2d LPPool3d
    _AdaptiveMaxPoolNd AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d _AdaptiveAvgPoolNd
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
rnn:
    Module RNNBase RNN LSTM GRU RNNCellBase RNNCell LSTMCell GRUCell
sparse:
    Module Embedding EmbeddingBag
transformer:
    MultiheadAttention ModuleList Dropout Linear Module LayerNorm Transformer TransformerEncoder
    TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer
upsampling:
    Module Upsample UpsamplingNearest2d UpsamplingBilinear2d
"""
_FILES: Final = "torch.nn.modules."


@cache
def _files() -> dict[str, tuple[str, ...]]:
    parts = _TEXT.replace(":\n", ":").strip().split("\n")
    found: dict[str, tuple[str, ...]] = {}
    last = ""
    for part in parts:
        name, colon, rest = part.rpartition(":")
        last = name if colon else last
        found[last] = (*found.get(last, ()), *rest.split())
    return found


def classes(namespace: str) -> tuple[str, ...]:
    """The qualified names of the Modules' classes among the names of a file, in its order; none of another file."""
    if not namespace.startswith(_FILES):
        return ()
    return tuple(f"{namespace}.{name}" for name in _files().get(namespace.removeprefix(_FILES), ()))


def is_class(qualified: str) -> bool:
    """Whether a qualified name is one of those that `classes` gives."""
    return qualified.startswith(_FILES) and qualified in classes(qualified.rpartition(".")[0])
