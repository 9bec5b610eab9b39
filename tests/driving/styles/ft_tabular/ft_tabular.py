"""Feature-tokenizer transformer for tables (after Gorishniy et al., 2021)."""
import math
import typing as ty

import torch
import torch.nn as nn
from torch import Tensor


class CLSToken(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(Tensor(d))
        bound = 1 / math.sqrt(d)
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        cls = self.weight.expand(x.shape[0], 1, -1)
        return torch.cat([x, cls], dim=1)


class NumericalTokenizer(nn.Module):
    def __init__(self, n_features: int, d: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_features, d) / math.sqrt(d))
        self.bias = nn.Parameter(torch.randn(n_features, d) / math.sqrt(d)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        assert x.ndim == 2
        x = self.weight[None] * x[..., None]
        return x if self.bias is None else x + self.bias[None]


class CategoricalTokenizer(nn.Module):
    def __init__(self, cardinalities: ty.List[int], d: int) -> None:
        super().__init__()
        assert cardinalities, "cardinalities must be non-empty"
        self.cardinalities = cardinalities
        self.tables = [nn.Embedding(c + 1, d) for c in cardinalities]
        for table in self.tables:
            nn.init.normal_(table.weight, std=1 / math.sqrt(d))

    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[1] == len(self.cardinalities)
        return torch.stack([t(x[:, i]) for i, t in enumerate(self.tables)], dim=1)


class FTTransformer(nn.Module):
    """All features become tokens; the prediction is read from the last ([CLS]) one."""

    def __init__(
        self,
        *,
        n_num: int,
        cardinalities: ty.Optional[ty.List[int]],
        d_token: int,
        n_blocks: int,
        n_heads: int,
        d_out: int,
        ffn_factor: float = 4 / 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.num = NumericalTokenizer(n_num, d_token) if n_num else None
        self.cat = CategoricalTokenizer(cardinalities, d_token) if cardinalities else None
        if self.num is None and self.cat is None:
            raise ValueError("At least one kind of feature is required")
        self.cls = CLSToken(d_token)
        layer = nn.TransformerEncoderLayer(
            d_token,
            n_heads,
            dim_feedforward=int(d_token * ffn_factor),
            dropout=dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(layer, n_blocks, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(d_token), nn.ReLU(), nn.Linear(d_token, d_out))

    def forward(self, x_num: ty.Optional[Tensor], x_cat: ty.Optional[Tensor]) -> Tensor:
        tokens = []
        if self.num is not None:
            assert x_num is not None
            tokens.append(self.num(x_num))
        if self.cat is not None:
            assert x_cat is not None
            tokens.append(self.cat(x_cat))
        x = self.cls(torch.cat(tokens, dim=1))
        x = self.blocks(x)
        return self.head(x[:, -1])
