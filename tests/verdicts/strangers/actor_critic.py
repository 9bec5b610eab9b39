import torch
from torch import nn


class DDPG:
    def __init__(self, n_obs=4, n_act=2):
        self.actor = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, n_act), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(n_obs + n_act, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def q(self, obs, act):
        return self.critic(torch.cat([obs, act], dim=1))

    def update(self, obs, act, ret):
        critic_loss = nn.functional.mse_loss(self.q(obs, act), ret)
        actor_loss = -self.q(obs, self.actor(obs)).mean()

        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        return critic_loss.item(), actor_loss.item()


torch.manual_seed(0)
agent = DDPG()
for i in range(10):
    obs = torch.randn(32, 4)
    act = torch.rand(32, 2) * 2 - 1
    print(i, agent.update(obs, act, obs.sum(dim=1, keepdim=True)))
