# thread: https://github.com/huggingface/optimum-habana/pull/1976
# diagnosis: A row of the mask is written back into the mask it is a view of, by index_copy_.
# mistake: 13
# expected: TLN215
# symptom: raises RuntimeError: refer to a single memory location

import torch


def advance(model_kwargs, token_idx):
    mask = model_kwargs["cross_attention_mask"]
    last = mask[token_idx - 2 : token_idx - 1]
    mask.index_copy_(0, torch.tensor([token_idx - 1]), last)
    return model_kwargs


def generate(steps, tiles):
    kwargs = {"cross_attention_mask": torch.zeros(steps + 2, tiles)}
    kwargs["cross_attention_mask"][0] = 1
    for token in range(2, steps + 2):
        kwargs = advance(kwargs, token)
    return kwargs["cross_attention_mask"].sum()


print(generate(steps=3, tiles=4))
