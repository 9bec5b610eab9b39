"""
Shapes of operations that keep their input's shape, and of pointwise ones whose operands broadcast.

Only tables of names and of the operands that take part; options such as `alpha` or `approximate` have no say.

References
----------
The `pointwise` tag of torch's `native_functions.yaml`; https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes.domain import Arguments, Description, Result, Shape, Transfer, broadcast

DESCRIBED: Final = Description()

POINTWISE_UNARY: Final = """
    abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not ceil
    celu conj conj_physical cos cosh deg2rad digamma elu erf erfc erfinv exp exp2 expm1 fix floor frac gelu
    hardshrink hardsigmoid hardswish hardtanh i0 imag isfinite isinf isnan isneginf isposinf isreal leaky_relu lgamma
    log log10 log1p log2 log_sigmoid logical_not logit logsigmoid mish mvlgamma nan_to_num neg negative polygamma
    positive prelu rad2deg real reciprocal relu relu6 round rrelu rsqrt selu sgn sigmoid sign signbit silu sin sinc
    sinh softplus softshrink softsign sqrt square tan tanh tanhshrink threshold trunc
    special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma
    special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1
    special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr special_logit
    special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
    special_multigammaln special_ndtr special_ndtri special_polygamma special_psi special_round
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc special_spherical_bessel_j0
"""

CONVERSIONS: Final = """
    alias bfloat16 bool byte cdouble cfloat chalf char clone contiguous cpu cuda data detach double float half int
    long pin_memory requires_grad resolve_conj resolve_neg short to type_as
"""

SHAPE_KEEPING: Final = """
    alpha_dropout as_strided_scatter batch_norm bernoulli bucketize channel_shuffle cholesky cholesky_inverse cumprod
    cumsum dequantize diagonal_scatter dropout dropout1d dropout2d dropout3d empty_like feature_alpha_dropout
    feature_dropout fft_fftshift fft_ifftshift fill flip fliplr flipud full_like group_norm index_add index_copy
    index_fill index_put index_reduce instance_norm inverse layer_norm linalg_cholesky linalg_householder_product
    linalg_inv linalg_matrix_exp linalg_matrix_power local_response_norm log_softmax logcumsumexp matrix_exp
    matrix_power native_channel_shuffle normalize ones_like orgqr poisson put rand_like randint_like randn_like renorm
    rms_norm roll scatter scatter_add scatter_reduce select_scatter slice_scatter softmax softmin special_log_softmax
    special_softmax to_dense to_mkldnn to_sparse tril triu type zero zeros_like
"""

BINARY: Final = """
    __and__ __eq__ __floordiv__ __ge__ __gt__ __ilshift__ __irshift__ __le__ __lshift__ __lt__ __mod__ __ne__ __or__
    __pow__ __radd__ __rand__ __rdiv__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__
    __rshift__ __rsub__ __rtruediv__ __rxor__ __truediv__ __xor__ add and arctan2 atan2 bitwise_and bitwise_left_shift
    bitwise_or bitwise_right_shift bitwise_xor copysign div divide eq floor_divide fmax fmin fmod gcd ge greater
    greater_equal gt hypot igamma igammac isclose lcm ldexp le less less_equal logaddexp logaddexp2 logical_and
    logical_or logical_xor lshift lt maximum minimum mul multiply ne nextafter not_equal or remainder rshift rsub
    special_gammainc special_gammaincc special_xlog1py special_xlogy special_zeta sub subtract true_divide xlogy xor
"""

POLYNOMIALS: Final = """
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
    special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
"""

OPERANDS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(BINARY.split(), ("self", "other")),
    "pow": ("self", "exponent"),
    "float_power": ("self", "exponent"),
    "lerp": ("self", "end", "weight"),
    "addcmul": ("self", "tensor1", "tensor2"),
    "addcdiv": ("self", "tensor1", "tensor2"),
    "binomial": ("count", "prob"),
    "ormqr": ("input3",),
    "heaviside": ("self", "values"),
    "masked_fill": ("self", "mask"),
    "masked_scatter": ("self", "mask"),
    **dict.fromkeys(POLYNOMIALS.split(), ("self", "n")),
    "complex": ("real", "imag"),
    "polar": ("abs", "angle"),
    "clamp": ("self", "min", "max"),
    "clip": ("self", "min", "max"),
    "clamp_min": ("self", "min"),
    "clamp_max": ("self", "max"),
}
"""The arguments whose shapes broadcast."""


@DESCRIBED.of(*POINTWISE_UNARY.split(), *CONVERSIONS.split(), *SHAPE_KEEPING.split())
def _same(a: Arguments) -> Result:
    return a.operand()


@DESCRIBED.of("gumbel_softmax")
def _gumbel_softmax(a: Arguments) -> Result:
    return a.operand("logits")


@DESCRIBED.of("searchsorted")
def _searchsorted(a: Arguments) -> Result:
    return a.operand()


@DESCRIBED.of("frexp", "cummax", "cummin", "native_dropout")
def _pair(a: Arguments) -> Result:
    return [a.operand(), a.operand()]


_OPTIONAL: Final = frozenset({"min", "max"})


def broadcast_operands(a: Arguments, names: tuple[str, ...]) -> Shape:
    """The broadcast shape of these arguments. Raises `ShapeUnknownError` if one of them may or may not be a tensor."""
    return broadcast(*(a.operand(name) for name in names if name not in _OPTIONAL or a.get(name) is not None))


def _pointwise(names: tuple[str, ...]) -> Transfer:
    def transfer(a: Arguments) -> Result:
        return broadcast_operands(a, names)

    return transfer


for _name, _names in OPERANDS.items():
    DESCRIBED.of(_name)(_pointwise(_names))


@DESCRIBED.of("where")
def _where(a: Arguments) -> Result:
    if a.get("self") is None and a.get("other") is None:
        rank = len(a.shape("condition"))
        return [(None,)] * rank
    return broadcast_operands(a, ("condition", "self", "other"))


@DESCRIBED.of("broadcast_tensors")
def _broadcast_tensors(a: Arguments) -> Result:
    shapes = a.tensors()
    return [broadcast(*shapes)] * len(shapes)
