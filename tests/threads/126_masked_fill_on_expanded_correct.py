# correct: 126_masked_fill_on_expanded.py
# cure: The copy has memory of its own.

import torch


def padded_ids(first_ids, beams, finished, pad):
    ids = torch.tensor(first_ids).unsqueeze(1)
    if beams > 1:
        ids = ids.repeat(1, beams)
    ids.masked_fill_(finished, pad)
    return ids


done = torch.tensor([[False, True, False, False], [False, False, False, False]])
print(padded_ids([5, 9], beams=4, finished=done, pad=0))
