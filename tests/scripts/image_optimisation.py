"""The picture itself is trained, by L-BFGS with a closure, and clamped in between."""

import torch
from torch import nn, optim

torch.manual_seed(0)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()
        self.loss = None

    def forward(self, input):
        self.loss = nn.functional.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()
        self.loss = None

    def forward(self, input):
        G = gram_matrix(input)
        self.loss = nn.functional.mse_loss(G, self.target)
        return input


def get_style_model_and_losses(style_img, content_img):
    conv1, conv2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
    content = ContentLoss(conv2(torch.relu(conv1(content_img))))
    style = StyleLoss(conv1(style_img))
    model = nn.Sequential(conv1, style, nn.ReLU(), conv2, content)
    return model, [style], [content]


def run_style_transfer(content_img, style_img, input_img, num_steps=3, style_weight=1000, content_weight=1):
    model, style_losses, content_losses = get_style_model_and_losses(style_img, content_img)
    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)
    optimizer = optim.LBFGS([input_img], max_iter=3)
    run = [0]
    while run[0] <= num_steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style_score = 0
            content_score = 0
            for sl in style_losses:
                style_score += sl.loss
            for cl in content_losses:
                content_score += cl.loss
            style_score *= style_weight
            content_score *= content_weight
            loss = style_score + content_score
            loss.backward()
            run[0] += 1
            return style_score + content_score

        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img


content = torch.rand(1, 3, 6, 6)
output = run_style_transfer(content, torch.rand(1, 3, 6, 6), content.clone())
print(output.detach().mean())
