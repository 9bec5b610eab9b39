# thread: https://github.com/yihaosun1124/OfflineRL-Kit/issues/15
# diagnosis: Two critics are trained on one regularizer that is computed with gradients, each with a backward of its own.
# mistake: 23, 30
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
import torch.nn as nn


def critic(obs_dim):
    return nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, 1))


class ConservativeAgent:
    def __init__(self, obs_dim, weight):
        self.critic1, self.critic2, self.target = critic(obs_dim), critic(obs_dim), critic(obs_dim)
        self.optim1 = torch.optim.Adam(self.critic1.parameters(), lr=3e-4)
        self.optim2 = torch.optim.Adam(self.critic2.parameters(), lr=3e-4)
        self.weight = weight

    def learn(self, obs, reward, next_obs):
        target_q = reward + 0.99 * self.target(next_obs)
        loss1 = (self.critic1(obs) - target_q).pow(2).mean() + self.weight * self.critic1(next_obs).mean()
        loss2 = (self.critic2(obs) - target_q).pow(2).mean() + self.weight * self.critic2(next_obs).mean()
        self.optim1.zero_grad()
        loss1.backward()
        self.optim1.step()
        self.optim2.zero_grad()
        loss2.backward()
        self.optim2.step()


ConservativeAgent(5, weight=0.5).learn(torch.randn(9, 5), torch.randn(9, 1), torch.randn(9, 5))
