from typing import Dict, List, Optional, TypedDict

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class TaggerBatch(TypedDict, total=False):
    tokens: torch.Tensor      # (B, T) long
    lengths: torch.Tensor     # (B,) long
    fresh: torch.Tensor       # (B,) bool, sequence starts a new document
    tags: torch.Tensor        # (B, T) long


class WordDropout(nn.Module):
    def __init__(self, p: float, unk: int = 1):
        super().__init__()
        self.p, self.unk = p, unk

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if not self.training or self.p == 0:
            return tokens
        drop = torch.rand(tokens.shape, device=tokens.device) < self.p
        return tokens.masked_fill(drop, self.unk)


class LSTMTagger(nn.Module):
    """BiLSTM sequence labeller with a learned initial state."""

    def __init__(
        self,
        vocab: Dict[str, int],
        tagset: List[str],
        emb_dim: int = 32,
        hidden: int = 32,
        num_layers: int = 1,
        word_dropout: float = 0.0,
    ):
        super().__init__()
        self.vocab = vocab
        self.tagset = tagset
        self.num_layers = num_layers
        self.hidden = hidden
        self.drop = WordDropout(word_dropout, vocab.get("<unk>", 1))
        self.embed = nn.Embedding(len(vocab), emb_dim, padding_idx=vocab.get("<pad>", 0))
        self.lstm = nn.LSTM(emb_dim, hidden, num_layers, batch_first=True, bidirectional=True)
        self.h0 = nn.Parameter(torch.randn(2 * num_layers, 1, hidden) * 0.1)
        self.c0 = nn.Parameter(torch.randn(2 * num_layers, 1, hidden) * 0.1)
        self.classifier = nn.Linear(2 * hidden, len(tagset))

    def initial_state(self, batch_size: int, fresh: Optional[torch.Tensor]):
        h = self.h0.expand(-1, batch_size, -1)
        c = self.c0.expand(-1, batch_size, -1).contiguous()
        if fresh is not None:
            # continuing sentences do not get the document-initial state
            h[:, ~fresh] = 0.0
        return h.contiguous(), c

    def encode(self, tokens: torch.Tensor, lengths: torch.Tensor, fresh=None) -> torch.Tensor:
        x = self.embed(self.drop(tokens))
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed, self.initial_state(tokens.size(0), fresh))
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.size(1))
        return out

    def forward(self, batch: TaggerBatch) -> Dict[str, torch.Tensor]:
        tokens, lengths = batch["tokens"], batch["lengths"]
        logits = self.classifier(self.encode(tokens, lengths, batch.get("fresh")))
        result = {"logits": logits}
        if "tags" in batch:
            valid = torch.arange(tokens.size(1), device=tokens.device)[None] < lengths[:, None]
            result["loss"] = nn.functional.cross_entropy(logits[valid], batch["tags"][valid])
        return result

    @torch.no_grad()
    def predict(self, batch: TaggerBatch) -> List[List[str]]:
        best = self.forward(batch)["logits"].argmax(-1)
        return [[self.tagset[i] for i in row[:n]] for row, n in zip(best.tolist(), batch["lengths"].tolist())]
