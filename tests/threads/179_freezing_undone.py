# thread: https://github.com/ultralytics/yolov5/issues/1213
# diagnosis: The parameters to freeze are frozen, and a later loop makes all of them require grad again.
# mistake: 19
# expected: none
# symptom: prints frozen: 0

import torch
import torch.nn as nn


def train(model, freeze, lr):
    for k, v in model.named_parameters():
        if any(k.startswith(name) for name in freeze):
            print("freezing", k)
            v.requires_grad = False

    decay, no_decay, biases = [], [], []
    for k, v in model.named_parameters():
        v.requires_grad = True
        if k.endswith("bias"):
            biases.append(v)
        elif "bn" in k:
            no_decay.append(v)
        else:
            decay.append(v)
    optimizer = torch.optim.SGD(no_decay + biases, lr=lr, momentum=0.9)
    optimizer.add_param_group({"params": decay, "weight_decay": 5e-4})
    return optimizer


yolo = nn.Sequential()
yolo.add_module("conv0", nn.Conv2d(3, 4, 3))
yolo.add_module("conv1", nn.Conv2d(4, 8, 3))
train(yolo, freeze=["conv0"], lr=0.01)
print("frozen:", sum(not p.requires_grad for p in yolo.parameters()))
