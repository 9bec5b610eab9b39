# thread: https://github.com/xiaoyufenfei/Efficient-Segmentation-Networks/pull/5
# diagnosis: no_grad is called as a statement, which turns nothing off.
# mistake: 15
# expected: TLN110
# symptom: prints graph in validation: True

import torch
import torch.nn as nn


def val(args, val_loader, model):
    model.eval()
    matches = 0
    for i, (image, label) in enumerate(val_loader):
        torch.no_grad()
        output = model(image)
        matches += (output.argmax(1) == label).sum().item()
        if i == 0:
            print("graph in validation:", output.requires_grad)
    return matches / args["pixels"]


segmenter = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.PReLU(), nn.Conv2d(6, 4, 1))
loader = [(torch.rand(1, 3, 6, 6), torch.randint(0, 4, (1, 6, 6))) for _ in range(2)]
val({"pixels": 72}, loader, segmenter)
