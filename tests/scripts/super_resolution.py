"""Super resolution by sub-pixel convolution: weights by orthogonal init, a run over batches with a sum of losses."""

import math

import torch
from torch import nn, optim
from torch.nn import init


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(8, 8, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(8, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        return self.pixel_shuffle(self.conv3(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight)


torch.manual_seed(123)
device = torch.device("cpu")
pairs = [(torch.rand(2, 1, 4, 4), torch.rand(2, 1, 8, 8)) for _ in range(3)]
model = Net(upscale_factor=2).to(device)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)


def train(epoch):
    epoch_loss = 0
    for iteration, batch in enumerate(pairs, 1):
        input, target = batch[0].to(device), batch[1].to(device)
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} ({iteration}/{len(pairs)}): {loss.item():.4f}")
    print(f"epoch {epoch}: average {epoch_loss / len(pairs):.4f}")


def test():
    avg_psnr = 0
    with torch.no_grad():
        for batch in pairs:
            input, target = batch[0].to(device), batch[1].to(device)
            prediction = model(input)
            mse = criterion(prediction, target)
            avg_psnr += 10 * math.log10(1 / mse.item())
    print(f"PSNR {avg_psnr / len(pairs):.4f} dB")


for epoch in range(1, 3):
    train(epoch)
    test()
