# thread: https://github.com/facebookresearch/ParlAI/pull/3068
# diagnosis: masked_fill is called for its effect on the scores, and has none.
# mistake: 26
# expected: TLN212
# symptom: prints padding wins: True

import torch
import torch.nn as nn


class CandidateRanker(nn.Module):
    def __init__(self, words, dim, pad_index):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, dim)
        self.pad_index = pad_index

    def neginf(self, dtype):
        return torch.finfo(dtype).min

    def forward(self, context, candidates):
        b, c, n = candidates.shape
        cands = self.embed(candidates.view(b * c, n)).view(b, c, -1)
        scores = torch.einsum("bd,bcd->bc", self.embed(context), cands)
        empty = (candidates == self.pad_index).all(-1)
        scores = scores + 5 * empty.float()
        scores.masked_fill(empty, self.neginf(scores.dtype))
        return scores


ranker = CandidateRanker(10, 4, pad_index=0)
candidates = torch.randint(1, 10, (2, 3, 5))
candidates[:, 2] = 0
print("padding wins:", bool((ranker(torch.randint(1, 10, (2, 6)), candidates).argmax(1) == 2).any()))
