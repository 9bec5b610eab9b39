"""
A number, a flag or a word for a name, where nothing else is known of what has that name.

Runs inside the child. Knows names alone.
"""

from __future__ import annotations

import pathlib
from typing import Any

from torchlint.verify.usage import says


class Place(str):
    """The name of a file or a folder, as a string and as a path."""

    def __truediv__(self, other: object) -> Any:
        return pathlib.Path(self) / str(other)

    def __rtruediv__(self, other: object) -> Any:
        return pathlib.Path(str(other)) / str(self)

    def __getattr__(self, name: str) -> Any:
        """As that of paths."""
        return getattr(pathlib.Path(str(self)), name)

    def __fspath__(self) -> str:
        return str(self)


_SMALL: tuple[tuple[tuple[str, ...], Any], ...] = (  # of a name, the first of whose words it says one
    (("sample_rate", "sampling_rate", "samplerate", "sr"), 8000),
    (("n_fft", "nfft", "fft_size"), 64),
    (("hop_length", "hop_size", "hop"), 16),
    (("spatial_dims", "n_dims", "ndim", "ndims"), 2),
    (("scale_factor", "upscale", "upscale_factor", "downscale", "upsample", "downsample", "dilation_rate"), 2),
    (
        ("dropout", "drop", "prob", "rate", "alpha", "beta", "momentum", "sigma", "std", "weight_decay", "smoothing"),
        0.1,
    ),
    (("eps", "tol", "lr", "learning"), 1e-3),
    (("temperature", "temp", "scale", "gamma", "margin", "weight", "coef", "lambda", "factor", "ratio"), 1.0),
    (("reduction",), "mean"),
    (("num_heads", "n_heads", "nhead", "heads", "n_head"), 2),
    (("stride", "dilation", "groups", "padding"), 1),
    (("layers", "depth", "blocks", "stages", "steps", "epochs", "iters", "iterations", "repeat", "levels"), 2),
    (("kernel", "window"), 3),
    (("patch",), 4),
    (("image_size", "img_size", "resolution", "height", "width"), 16),
    (("classes", "num_labels", "n_class"), 4),
    (("vocab", "num_tokens", "n_vocab", "num_embeddings"), 32),
    (("max_len", "seq_len", "max_position", "context", "length", "block_size"), 32),
    (("in_chans", "in_channels", "input_channels", "channels_in", "image_channels"), 3),
    (("use_", "is_", "with_", "bias", "inplace", "verbose", "causal", "enable", "return_"), False),
    (("dim", "axis"), -1),
    (("act", "nonlinearity"), "relu"),
    (("pad", "=id", "=idx"), 0),
    (("folder", "=dir", "directory"), Place(".")),
    (("path", "file", "fpath", "filepath", "filename", "fname"), Place("file")),
    (("=name", "=mode", "=type"), ""),
)


def scalar(name: str, size: int, *, computes: bool) -> Any:
    """
    A number, a flag or a word, by name.

    Parameters
    ----------
    size
        For what says nothing of itself.
    computes
        Whether it is an argument of a computation, where `dim` is an axis and no size.
    """
    lower = name.lower()
    for words, value in _SMALL:
        if any(says(name, word) for word in words):
            if type(value) is float and lower.startswith(("n_", "num_", "nb_")):
                return 2  # so many of them
            return size if value == -1 and not (computes and lower in ("dim", "axis")) else value
    return size
