"""Layers that are trained one by one, each on its own goodness; nothing flows between them."""

import torch
from torch import nn
from torch.optim import Adam

torch.manual_seed(1)


def get_y_neg(y):
    y_neg = y.clone()
    for idx, y_samp in enumerate(y):
        allowed = list(range(4))
        allowed.remove(y_samp.item())
        y_neg[idx] = torch.tensor(allowed)[torch.randint(len(allowed), size=(1,))].item()
    return y_neg


def overlay_y_on_x(x, y, classes=4):
    x_ = x.clone()
    x_[:, :classes] *= 0.0
    x_[range(x.shape[0]), y] = x.max()
    return x_


class Layer(nn.Linear):
    def __init__(self, in_features, out_features, epochs=2):
        super().__init__(in_features, out_features)
        self.relu = nn.ReLU()
        self.opt = Adam(self.parameters(), lr=0.03)
        self.threshold = 2.0
        self.num_epochs = epochs

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train_layer(self, x_pos, x_neg):
        for i in range(self.num_epochs):
            g_pos = self(x_pos).pow(2).mean(1)
            g_neg = self(x_neg).pow(2).mean(1)
            margin = torch.cat([-g_pos + self.threshold, g_neg - self.threshold])
            loss = nn.functional.softplus(margin).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if i % 10 == 0:
                print("loss:", loss.item())
        return self(x_pos).detach(), self(x_neg).detach()


class Net(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.layers = nn.ModuleList()
        for d in range(len(dims) - 1):
            self.layers.append(Layer(dims[d], dims[d + 1]))

    @torch.no_grad()
    def predict(self, x):
        goodness_per_label = []
        for label in range(4):
            h = overlay_y_on_x(x, label)
            goodness = []
            for layer in self.layers:
                h = layer(h)
                goodness.append(h.pow(2).mean(1))
            goodness_per_label.append(sum(goodness).unsqueeze(1))
        return torch.cat(goodness_per_label, 1).argmax(1)

    def train_net(self, x_pos, x_neg):
        h_pos, h_neg = x_pos, x_neg
        for i, layer in enumerate(self.layers):
            print("training layer:", i)
            h_pos, h_neg = layer.train_layer(h_pos, h_neg)


net = Net([12, 8, 8])
x, y = torch.rand(6, 12), torch.randint(4, (6,))
net.train_net(overlay_y_on_x(x, y), overlay_y_on_x(x, get_y_neg(y)))
print("accuracy:", net.predict(x).eq(y).float().mean().item())
