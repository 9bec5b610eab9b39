# thread: https://github.com/pytorch/pytorch/issues/39639
# diagnosis: An expanded tensor is filled in place, though its columns are one memory.
# mistake: 14
# expected: TLN208
# symptom: warns Use of masked_fill_ on expanded tensors is deprecated

import torch


def padded_ids(first_ids, beams, finished, pad):
    ids = torch.tensor(first_ids).unsqueeze(1)
    if beams > 1:
        ids = ids.expand(len(first_ids), beams)
    ids.masked_fill_(finished, pad)
    return ids


done = torch.tensor([[False, True, False, False], [False, False, False, False]])
print(padded_ids([5, 9], beams=4, finished=done, pad=0))
