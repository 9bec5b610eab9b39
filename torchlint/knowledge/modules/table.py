"""
The constructors and forwards of the classes of `torch.nn`, in torch's own words, as a table.

One entry per class: the constructor, and below it the parameters of `forward` and, where `forward` is one call, that
call (deeper lines continue the one above). In the call `input` and the like are forward's arguments, `self.weight` is
a parameter or buffer of the module (None if it was not registered), every other name is the constructor's argument,
and `training` the mode; a name alone is also the name of the function's parameter. `ntuple(x, n)` is a number repeated
n times, or a sequence as it is. A test holds every signature and every call against torch. This module only holds the
text and cuts it into entries.

References
----------
`torch/nn/modules/*.py` of torch 2.13
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple


class Entry(NamedTuple):
    """One class: its constructor's parameters, its forward's, and the call that forward is ("" if it is not one)."""

    signature: str
    inputs: str
    call: str


_TEXT: Final = """
AdaptiveAvgPool1d(output_size)
    input: F.adaptive_avg_pool1d(input, output_size)
AdaptiveAvgPool2d(output_size)
    input: F.adaptive_avg_pool2d(input, output_size)
AdaptiveAvgPool3d(output_size)
    input: F.adaptive_avg_pool3d(input, output_size)
AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None)
    input, target:
AdaptiveMaxPool1d(output_size, return_indices=False)
    input: F.adaptive_max_pool1d(input, output_size, return_indices)
AdaptiveMaxPool2d(output_size, return_indices=False)
    input: F.adaptive_max_pool2d(input, output_size, return_indices)
AdaptiveMaxPool3d(output_size, return_indices=False)
    input: F.adaptive_max_pool3d(input, output_size, return_indices)
AlphaDropout(p=0.5, inplace=False)
    input: F.alpha_dropout(input, p, training)
AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
    input: F.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    input: F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    input: F.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
BCELoss(weight=None, size_average=None, reduce=None, reduction="mean")
    input, target: F.binary_cross_entropy(input, target, weight=self.weight, reduction=reduction)
BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None)
    input, target: F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
        reduction=reduction)
BatchNorm1d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
BatchNorm2d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
BatchNorm3d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
Bilinear(in1_features, in2_features, out_features, bias=True, device=None, dtype=None)
    input1, input2: F.bilinear(input1, input2, self.weight, self.bias)
CELU(alpha=1.0, inplace=False)
    input: F.celu(input, alpha, inplace)
CTCLoss(blank=0, reduction="mean", zero_infinity=False)
    log_probs, targets, input_lengths, target_lengths: F.ctc_loss(log_probs, targets, input_lengths, target_lengths,
        blank, reduction, zero_infinity)
ChannelShuffle(groups)
    input: F.channel_shuffle(input, groups)
CircularPad1d(padding)
    input: F.pad(input, pad=ntuple(padding, 2), mode="circular")
CircularPad2d(padding)
    input: F.pad(input, pad=ntuple(padding, 4), mode="circular")
CircularPad3d(padding)
    input: F.pad(input, pad=ntuple(padding, 6), mode="circular")
ConstantPad1d(padding, value)
    input: F.pad(input, pad=ntuple(padding, 2), mode="constant", value=value)
ConstantPad2d(padding, value)
    input: F.pad(input, pad=ntuple(padding, 4), mode="constant", value=value)
ConstantPad3d(padding, value)
    input: F.pad(input, pad=ntuple(padding, 6), mode="constant", value=value)
Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None)
    input:
Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None)
    input:
Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None)
    input:
ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None)
    input, output_size:
ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None)
    input, output_size:
ConvTranspose3d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None)
    input, output_size:
CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")
    input1, input2, target: F.cosine_embedding_loss(input1, input2, target, margin=margin, reduction=reduction)
CosineSimilarity(dim=1, eps=1e-08)
    x1, x2: F.cosine_similarity(x1, x2, dim, eps)
CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
        label_smoothing=0.0)
    input, target: F.cross_entropy(input, target, weight=self.weight, ignore_index=ignore_index, reduction=reduction,
        label_smoothing=label_smoothing)
CrossMapLRN2d(size, alpha=0.0001, beta=0.75, k=1)
    input:
Dropout(p=0.5, inplace=False)
    input: F.dropout(input, p, training, inplace)
Dropout1d(p=0.5, inplace=False)
    input: F.dropout1d(input, p, training, inplace)
Dropout2d(p=0.5, inplace=False)
    input: F.dropout2d(input, p, training, inplace)
Dropout3d(p=0.5, inplace=False)
    input: F.dropout3d(input, p, training, inplace)
ELU(alpha=1.0, inplace=False)
    input: F.elu(input, alpha, inplace)
Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, _weight=None, _freeze=False, device=None, dtype=None)
    input: F.embedding(input, self.weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
        sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None)
    input, offsets, per_sample_weights: F.embedding_bag(input, self.weight, offsets, max_norm, norm_type,
        scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)
FeatureAlphaDropout(p=0.5, inplace=False)
    input: F.feature_alpha_dropout(input, p, training)
Flatten(start_dim=1, end_dim=-1)
    input: torch.Tensor.flatten(self=input, start_dim=start_dim, end_dim=end_dim)
Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)
    input: F.fold(input, output_size, kernel_size, dilation, padding, stride)
FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None)
    input: F.fractional_max_pool2d(input, kernel_size, return_indices=return_indices,
        output_size=ntuple(output_size, 2), output_ratio=ntuple(output_ratio, 2), _random_samples=self._random_samples)
FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None)
    input: F.fractional_max_pool3d(input, kernel_size, return_indices=return_indices,
        output_size=ntuple(output_size, 3), output_ratio=ntuple(output_ratio, 3), _random_samples=self._random_samples)
GELU(approximate="none")
    input: F.gelu(input, approximate=approximate)
GLU(dim=-1)
    input: F.glu(input, dim)
GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
        device=None, dtype=None)
    input, hx:
GRUCell(input_size, hidden_size, bias=True, device=None, dtype=None)
    input, hx:
GaussianNLLLoss(*, full=False, eps=1e-06, reduction="mean")
    input, target, var: F.gaussian_nll_loss(input, target, var, full=full, eps=eps, reduction=reduction)
GroupNorm(num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True)
    input: F.group_norm(input, num_groups, self.weight, self.bias, eps)
Hardshrink(lambd=0.5)
    input: F.hardshrink(input, lambd)
Hardsigmoid(inplace=False)
    input: F.hardsigmoid(input, inplace)
Hardswish(inplace=False)
    input: F.hardswish(input, inplace)
Hardtanh(min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None)
    input: F.hardtanh(input, min_val, max_val, inplace)
HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None, reduction="mean")
    input, target: F.hinge_embedding_loss(input, target, margin=margin, reduction=reduction)
HuberLoss(reduction="mean", delta=1.0)
    input, target: F.huber_loss(input, target, reduction=reduction, delta=delta)
Identity(*args, **kwargs)
    input:
InstanceNorm1d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
        dtype=None, *, bias=True)
    input:
InstanceNorm2d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
        dtype=None, *, bias=True)
    input:
InstanceNorm3d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
        dtype=None, *, bias=True)
    input:
KLDivLoss(size_average=None, reduce=None, reduction="mean", log_target=False)
    input, target: F.kl_div(input, target, reduction=reduction, log_target=log_target)
L1Loss(size_average=None, reduce=None, reduction="mean")
    input, target: F.l1_loss(input, target, reduction=reduction)
LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False)
    input: F.lp_pool1d(input, norm_type, kernel_size, stride, ceil_mode)
LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False)
    input: F.lp_pool2d(input, norm_type, kernel_size, stride, ceil_mode)
LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False)
    input: F.lp_pool3d(input, norm_type, kernel_size, stride, ceil_mode)
LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
        proj_size=0, device=None, dtype=None)
    input, hx:
LSTMCell(input_size, hidden_size, bias=True, device=None, dtype=None)
    input, hx:
LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None)
    input: F.layer_norm(input, self.weight, self.bias, eps, normalized_shape=ntuple(normalized_shape, 1))
LazyBatchNorm1d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True)
    input:
LazyBatchNorm2d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True)
    input:
LazyBatchNorm3d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True)
    input:
LazyConv1d(out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None)
    input:
LazyConv2d(out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None)
    input:
LazyConv3d(out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None)
    input:
LazyConvTranspose1d(out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None)
    input, output_size:
LazyConvTranspose2d(out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None)
    input, output_size:
LazyConvTranspose3d(out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None)
    input, output_size:
LazyInstanceNorm1d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
LazyInstanceNorm2d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
LazyInstanceNorm3d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True)
    input:
LazyLinear(out_features, bias=True, device=None, dtype=None)
    input: F.linear(input, self.weight, self.bias)
LeakyReLU(negative_slope=0.01, inplace=False)
    input: F.leaky_relu(input, negative_slope, inplace)
Linear(in_features, out_features, bias=True, device=None, dtype=None)
    input: F.linear(input, self.weight, self.bias)
LinearCrossEntropyLoss(in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None,
        reduction="mean", weight=None, ignore_index=None, label_smoothing=0.0, options=None)
    input, target:
LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0)
    input: F.local_response_norm(input, size, alpha, beta, k)
LogSigmoid(*args, **kwargs)
    input: F.logsigmoid(input)
LogSoftmax(dim=None)
    input: F.log_softmax(input, dim)
MSELoss(size_average=None, reduce=None, reduction="mean")
    input, target: F.mse_loss(input, target, reduction=reduction)
MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")
    input1, input2, target: F.margin_ranking_loss(input1, input2, target, margin=margin, reduction=reduction)
MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
    input: F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode,
        return_indices=return_indices)
MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
    input: F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode,
        return_indices=return_indices)
MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
    input: F.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode,
        return_indices=return_indices)
MaxUnpool1d(kernel_size, stride=None, padding=0)
    input, indices, output_size: F.max_unpool1d(input, indices, kernel_size, stride, padding, output_size)
MaxUnpool2d(kernel_size, stride=None, padding=0)
    input, indices, output_size: F.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)
MaxUnpool3d(kernel_size, stride=None, padding=0)
    input, indices, output_size: F.max_unpool3d(input, indices, kernel_size, stride, padding, output_size)
Mish(inplace=False)
    input: F.mish(input, inplace=inplace)
ModuleDict(modules=None)
ModuleList(modules=None)
MultiLabelMarginLoss(size_average=None, reduce=None, reduction="mean")
    input, target: F.multilabel_margin_loss(input, target, reduction=reduction)
MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None, reduction="mean")
    input, target: F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=reduction)
MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean")
    input, target: F.multi_margin_loss(input, target, p=p, margin=margin, weight=self.weight, reduction=reduction)
MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None)
    query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal:
NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean")
    input, target: F.nll_loss(input, target, weight=self.weight, ignore_index=ignore_index, reduction=reduction)
NLLLoss2d(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean")
    input, target: F.nll_loss(input, target, weight=self.weight, ignore_index=ignore_index, reduction=reduction)
PReLU(num_parameters=1, init=0.25, device=None, dtype=None)
    input: F.prelu(input, self.weight)
PairwiseDistance(p=2.0, eps=1e-06, keepdim=False)
    x1, x2: F.pairwise_distance(x1, x2, p, eps, keepdim)
ParameterDict(parameters=None)
ParameterList(values=None)
PixelShuffle(upscale_factor)
    input: F.pixel_shuffle(input, upscale_factor)
PixelUnshuffle(downscale_factor)
    input: F.pixel_unshuffle(input, downscale_factor)
PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean")
    input, target: F.poisson_nll_loss(input, target, log_input=log_input, full=full, eps=eps, reduction=reduction)
RMSNorm(normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None)
    input: F.rms_norm(input, self.weight, eps, normalized_shape=ntuple(normalized_shape, 1))
RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, device=None, dtype=None)
    input, hx:
RNNCell(input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None)
    input, hx:
RReLU(lower=0.125, upper=0.3333333333333333, inplace=False)
    input: F.rrelu(input, lower, upper, training, inplace)
ReLU(inplace=False)
    input: F.relu(input, inplace=inplace)
ReLU6(inplace=False)
    input: F.hardtanh(input, min_val=0.0, max_val=6.0, inplace=inplace)
ReflectionPad1d(padding)
    input: F.pad(input, pad=ntuple(padding, 2), mode="reflect")
ReflectionPad2d(padding)
    input: F.pad(input, pad=ntuple(padding, 4), mode="reflect")
ReflectionPad3d(padding)
    input: F.pad(input, pad=ntuple(padding, 6), mode="reflect")
ReplicationPad1d(padding)
    input: F.pad(input, pad=ntuple(padding, 2), mode="replicate")
ReplicationPad2d(padding)
    input: F.pad(input, pad=ntuple(padding, 4), mode="replicate")
ReplicationPad3d(padding)
    input: F.pad(input, pad=ntuple(padding, 6), mode="replicate")
SELU(inplace=False)
    input: F.selu(input, inplace)
Sequential(*args)
    input:
SiLU(inplace=False)
    input: F.silu(input, inplace=inplace)
Sigmoid(*args, **kwargs)
    input: torch.sigmoid(input)
SmoothL1Loss(size_average=None, reduce=None, reduction="mean", beta=1.0)
    input, target: F.smooth_l1_loss(input, target, reduction=reduction, beta=beta)
SoftMarginLoss(size_average=None, reduce=None, reduction="mean")
    input, target: F.soft_margin_loss(input, target, reduction=reduction)
Softmax(dim=None)
    input: F.softmax(input, dim)
Softmax2d(*args, **kwargs)
    input: F.softmax(input, dim=-3)
Softmin(dim=None)
    input: F.softmin(input, dim)
Softplus(beta=1.0, threshold=20.0)
    input: F.softplus(input, beta, threshold)
Softshrink(lambd=0.5)
    input: F.softshrink(input, lambd)
Softsign(*args, **kwargs)
    input: F.softsign(input)
SyncBatchNorm(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None, *, bias=True)
    input:
Tanh(*args, **kwargs)
    input: torch.tanh(input)
Tanhshrink(*args, **kwargs)
    input: F.tanhshrink(input)
Threshold(threshold, value, inplace=False)
    input: F.threshold(input, threshold, value, inplace)
Transformer(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
        activation=..., custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, batch_first=False,
        norm_first=False, bias=True, device=None, dtype=None)
    src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask,
        src_is_causal, tgt_is_causal, memory_is_causal:
TransformerDecoder(decoder_layer, num_layers, norm=None)
    tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
        memory_is_causal:
TransformerDecoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=..., layer_norm_eps=1e-05,
        batch_first=False, norm_first=False, bias=True, device=None, dtype=None)
    tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
        memory_is_causal:
TransformerEncoder(encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True)
    src, mask, src_key_padding_mask, is_causal:
TransformerEncoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=..., layer_norm_eps=1e-05,
        batch_first=False, norm_first=False, bias=True, device=None, dtype=None)
    src, src_mask, src_key_padding_mask, is_causal:
TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean")
    anchor, positive, negative: F.triplet_margin_loss(anchor, positive, negative, margin=margin, p=p, eps=eps,
        swap=swap, reduction=reduction)
TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0, swap=False, reduction="mean")
    anchor, positive, negative: F.triplet_margin_with_distance_loss(anchor, positive, negative,
        distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)
Unflatten(dim, unflattened_size)
    input: torch.Tensor.unflatten(self=input, dim=dim, sizes=unflattened_size)
Unfold(kernel_size, dilation=1, padding=0, stride=1)
    input: F.unfold(input, kernel_size, dilation, padding, stride)
Upsample(size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None)
    input: F.interpolate(input, size, scale_factor, mode, align_corners,
        recompute_scale_factor=recompute_scale_factor)
UpsamplingBilinear2d(size=None, scale_factor=None)
    input: F.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
UpsamplingNearest2d(size=None, scale_factor=None)
    input: F.interpolate(input, size, scale_factor, mode="nearest")
ZeroPad1d(padding)
    input: F.pad(input, pad=ntuple(padding, 2), mode="constant", value=0.0)
ZeroPad2d(padding)
    input: F.pad(input, pad=ntuple(padding, 4), mode="constant", value=0.0)
ZeroPad3d(padding)
    input: F.pad(input, pad=ntuple(padding, 6), mode="constant", value=0.0)
"""


@cache
def entries() -> dict[str, Entry]:
    """The table by class name."""
    table: dict[str, Entry] = {}
    lines: list[str] = []
    for line in _TEXT.splitlines():
        if line.startswith("        "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    name = ""
    for line in lines:
        if line.startswith("    "):
            inputs, _, call = line.strip().partition(":")
            table[name] = table[name]._replace(inputs=inputs, call=call.strip())
        elif line:
            name, _, signature = line.partition("(")
            table[name] = Entry(signature.removesuffix(")"), "", "")
    return table
