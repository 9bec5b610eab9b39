"""A fast style network: in-place normalisation of frozen features, Gram matrices, losses of several layers."""

import torch
from torch import nn
from torch.optim import Adam

torch.manual_seed(0)


class Features(nn.Module):
    """A stand-in for the frozen network whose features are compared."""

    def __init__(self, requires_grad=False):
        super().__init__()
        self.slice1 = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(inplace=True))
        self.slice2 = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(inplace=True))
        if not requires_grad:
            for param in self.parameters():
                param.requires_grad = False

    def forward(self, X):
        h1 = self.slice1(X)
        h2 = self.slice2(h1)
        return [h1, h2]


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.in1 = nn.InstanceNorm2d(channels, affine=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.in2 = nn.InstanceNorm2d(channels, affine=True)
        self.relu = nn.ReLU()

    def forward(self, x):
        residual = x
        out = self.relu(self.in1(self.conv1(x)))
        out = self.in2(self.conv2(out))
        out = out + residual
        return out


class TransformerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(3, 4, 3, padding=1)
        self.res1 = ResidualBlock(4)
        self.res2 = ResidualBlock(4)
        self.tail = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, X):
        return self.tail(self.res2(self.res1(torch.relu(self.head(X)))))


def gram_matrix(y):
    (b, ch, h, w) = y.size()
    features = y.view(b, ch, w * h)
    features_t = features.transpose(1, 2)
    return features.bmm(features_t) / (ch * h * w)


def normalize_batch(batch):
    mean = batch.new_tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)
    std = batch.new_tensor([0.229, 0.224, 0.225]).view(-1, 1, 1)
    batch = batch.div(255.0)
    return (batch - mean) / std


def train(epochs, loader):
    transformer = TransformerNet()
    optimizer = Adam(transformer.parameters(), 1e-3)
    mse_loss = nn.MSELoss()
    vgg = Features(requires_grad=False)
    style = torch.rand(1, 3, 8, 8).mul(255).repeat(2, 1, 1, 1)
    features_style = vgg(normalize_batch(style))
    gram_style = [gram_matrix(y) for y in features_style]

    for e in range(epochs):
        transformer.train()
        agg_content_loss = 0.0
        agg_style_loss = 0.0
        for batch_id, x in enumerate(loader):
            n_batch = len(x)
            optimizer.zero_grad()
            y = transformer(x)
            y = normalize_batch(y)
            x = normalize_batch(x)
            features_y = vgg(y)
            features_x = vgg(x)
            content_loss = 1e5 * mse_loss(features_y[1], features_x[1])
            style_loss = 0.0
            for ft_y, gm_s in zip(features_y, gram_style):
                gm_y = gram_matrix(ft_y)
                style_loss += mse_loss(gm_y, gm_s[:n_batch, :, :])
            style_loss *= 1e10
            total_loss = content_loss + style_loss
            total_loss.backward()
            optimizer.step()
            agg_content_loss += content_loss.item()
            agg_style_loss += style_loss.item()
            print(e, batch_id, agg_content_loss, agg_style_loss)
    transformer.eval()
    with torch.no_grad():
        return transformer(style)


print(train(2, torch.rand(2, 2, 3, 8, 8) * 255).clamp(0, 255).mean())
