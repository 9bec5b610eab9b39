# thread: https://github.com/Project-MONAI/MONAI/issues/1178
# diagnosis: A transform deep-copies entries of a dictionary, one of which is the model's output.
# mistake: 20, 26
# expected: TLN115
# symptom: raises RuntimeError: Only Tensors created explicitly by the user

import copy

import torch
import torch.nn as nn


class CopyItems:
    def __init__(self, keys, names):
        self.keys, self.names = keys, names

    def __call__(self, data):
        d = dict(data)
        for key, name in zip(self.keys, self.names):
            d[name] = copy.deepcopy(d[key])
        return d


def iteration(net, batch, post):
    batch["pred"] = net(batch["image"])
    return post(batch)


out = iteration(nn.Conv3d(1, 2, 1), {"image": torch.rand(1, 1, 3, 3, 3)}, CopyItems(["pred"], ["pred_act"]))
print(sorted(out))
