"""A physics-informed network for Burgers' equation: derivatives of the network in its own loss."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1234)


class DNN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        blocks = []
        for i in range(len(layers) - 2):
            blocks += [nn.Linear(layers[i], layers[i + 1]), nn.Tanh()]
        blocks.append(nn.Linear(layers[-2], layers[-1]))
        self.layers = nn.Sequential(*blocks)

    def forward(self, x):
        return self.layers(x)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, layers, nu):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float()
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float()
        self.x_f = torch.tensor(X_f[:, 0:1], dtype=torch.float32, requires_grad=True)
        self.t_f = torch.tensor(X_f[:, 1:2], dtype=torch.float32, requires_grad=True)
        self.u = torch.tensor(u).float()
        self.nu = nu
        self.dnn = DNN(layers)
        self.lambda_1 = nn.Parameter(torch.zeros(1))
        self.dnn.register_parameter("lambda_1", self.lambda_1)
        self.optimizer = torch.optim.LBFGS(self.dnn.parameters(), max_iter=3, line_search_fn="strong_wolfe")
        self.adam = torch.optim.Adam(self.dnn.parameters())
        self.iter = 0

    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True, create_graph=True)[0]
        return u_t + self.lambda_1 * u * u_x - self.nu * u_xx

    def loss(self):
        u_pred = self.net_u(self.x_u, self.t_u)
        f_pred = self.net_f(self.x_f, self.t_f)
        return torch.mean((self.u - u_pred) ** 2) + torch.mean(f_pred**2)

    def loss_func(self):
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        self.iter += 1
        print(f"iter {self.iter}, loss {loss.item():.5e}")
        return loss

    def train(self, epochs):
        self.dnn.train()
        for epoch in range(epochs):
            loss = self.loss()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
            if epoch % 100 == 0:
                print(epoch, loss.item(), self.lambda_1.item())
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float()
        t = torch.tensor(X[:, 1:2], requires_grad=True).float()
        self.dnn.eval()
        u = self.net_u(x, t)
        f = self.net_f(x, t)
        return u.detach().cpu().numpy(), f.detach().cpu().numpy()


points = np.random.default_rng(0).random((6, 2))
model = PhysicsInformedNN(points, np.sin(points[:, :1]), points, [2, 6, 6, 1], 0.01 / np.pi)
model.train(2)
u, f = model.predict(points)
print(np.abs(u).mean(), np.abs(f).mean())
