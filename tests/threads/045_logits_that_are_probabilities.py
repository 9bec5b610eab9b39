# thread: https://github.com/bkitano/llama-from-scratch/issues/5
# diagnosis: What is called logits is a softmax already, and cross_entropy gets it.
# mistake: 25
# expected: TLN601
# symptom: prints logits sum to one: True

import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {"context": 6, "vocabulary": 30, "width": 16}


class Bigram(nn.Module):
    def __init__(self, config=CONFIG):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config["vocabulary"], config["width"])
        self.mlp = nn.Sequential(nn.Linear(config["width"], 32), nn.SiLU(), nn.Linear(32, config["vocabulary"]))

    def forward(self, ids, targets=None):
        logits = F.softmax(self.mlp(self.embedding(ids)), dim=-1)
        if targets is None:
            return logits
        loss = F.cross_entropy(logits.view(-1, self.config["vocabulary"]), targets.view(-1))
        return logits, loss


model = Bigram()
xs = torch.randint(0, CONFIG["vocabulary"], (4, CONFIG["context"]))
logits, loss = model(xs, xs.roll(-1, 1))
loss.backward()
print("logits sum to one:", torch.allclose(logits.sum(-1), torch.ones(4, CONFIG["context"])))
