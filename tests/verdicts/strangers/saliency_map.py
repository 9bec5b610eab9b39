import torch
import torch.nn as nn

torch.manual_seed(0)

model = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1),
    nn.Tanh(),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(24, 5),
)
model.eval()


def saliency(net, image, target):
    image = image.clone().requires_grad_(True)
    score = net(image)[0, target]
    grad, = torch.autograd.grad(score, image, create_graph=True)
    return grad.detach().abs().amax(dim=1)


images = torch.rand(4, 3, 12, 12)
for i in range(images.size(0)):
    heat = saliency(model, images[i:i + 1], target=i)
    print(i, tuple(heat.shape), f"{heat.max().item():.5f}")
