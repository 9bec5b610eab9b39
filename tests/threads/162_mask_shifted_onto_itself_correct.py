# correct: 162_mask_shifted_onto_itself.py
# cure: The row is copied first.

import torch


def advance(model_kwargs, token_idx):
    mask = model_kwargs["cross_attention_mask"]
    last = mask[token_idx - 2 : token_idx - 1]
    mask.index_copy_(0, torch.tensor([token_idx - 1]), last.clone())
    return model_kwargs


def generate(steps, tiles):
    kwargs = {"cross_attention_mask": torch.zeros(steps + 2, tiles)}
    kwargs["cross_attention_mask"][0] = 1
    for token in range(2, steps + 2):
        kwargs = advance(kwargs, token)
    return kwargs["cross_attention_mask"].sum()


print(generate(steps=3, tiles=4))
