import torch


def halve_(tensor):
    tensor.div_(2)
    own = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        own.div_(2)
    return tensor
