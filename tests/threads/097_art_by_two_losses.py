# thread: https://github.com/MorvanZhou/PyTorch-Tutorial/issues/96
# diagnosis: The discriminator is stepped on a retained graph that the generator's backward then reads.
# mistake: 30, 31, 33
# expected: TLN202, TLN102
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn

N_IDEAS, COMPONENTS, BATCH = 5, 15, 16
G = nn.Sequential(nn.Linear(N_IDEAS, 32), nn.ReLU(), nn.Linear(32, COMPONENTS))
D = nn.Sequential(nn.Linear(COMPONENTS, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
opt_D = torch.optim.Adam(D.parameters(), lr=1e-4)
opt_G = torch.optim.Adam(G.parameters(), lr=1e-4)
points = torch.linspace(-1, 1, COMPONENTS).repeat(BATCH, 1)


def painter_works():
    a = torch.rand(BATCH, 1) + 1
    return a * points**2 + (a - 1)


for step in range(2):
    paintings = painter_works()
    drawn = G(torch.randn(BATCH, N_IDEAS))
    prob_real, prob_drawn = D(paintings), D(drawn)
    D_loss = -torch.mean(torch.log(prob_real) + torch.log(1.0 - prob_drawn))
    G_loss = torch.mean(torch.log(1.0 - prob_drawn))
    opt_D.zero_grad()
    D_loss.backward(retain_graph=True)
    opt_D.step()
    opt_G.zero_grad()
    G_loss.backward()
    opt_G.step()
