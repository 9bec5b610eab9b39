import math
from typing import Callable, Optional, Sequence, Union

import torch
import torch.nn as nn
from torch.distributions import Independent, Normal

_ACTIVATIONS = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "swish": nn.SiLU,
}


def mlp(sizes: Sequence[int], activation: Union[str, Callable[[], nn.Module]], out_act=nn.Identity):
    if isinstance(activation, str):
        activation = _ACTIVATIONS[activation.lower()]
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else out_act
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


def orthogonal_(module: nn.Module, gain: float = math.sqrt(2)) -> None:
    for m in module.modules():
        if isinstance(m, nn.Linear):
            nn.init.orthogonal_(m.weight, gain)
            nn.init.zeros_(m.bias)


class GaussianActorCritic(nn.Module):
    """
    PPO actor-critic with a state-independent diagonal Gaussian.

    obs_dim, act_dim : sizes of the observation and action vectors
    hidden           : widths of both trunks
    activation       : name or factory
    init_log_std     : value every entry of log_std starts from
    """

    LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0

    def __init__(
        self,
        obs_dim: int,
        act_dim: int,
        hidden: Sequence[int] = (64, 64),
        activation: Union[str, Callable[[], nn.Module]] = "tanh",
        init_log_std: float = -0.5,
    ):
        super().__init__()
        self.actor = mlp([obs_dim, *hidden, act_dim], activation)
        self.critic = mlp([obs_dim, *hidden, 1], activation)
        self.log_std = init_log_std * nn.Parameter(torch.ones(act_dim))
        orthogonal_(self.actor)
        orthogonal_(self.critic)
        orthogonal_(self.actor[-2], gain=0.01)

    def dist(self, obs: torch.Tensor) -> Independent:
        mu = self.actor(obs)
        log_std = torch.clamp(self.log_std, self.LOG_STD_MIN, self.LOG_STD_MAX)
        return Independent(Normal(mu, log_std.exp().expand_as(mu)), 1)

    @torch.no_grad()
    def act(self, obs: torch.Tensor, deterministic: bool = False):
        pi = self.dist(obs)
        a = pi.mean if deterministic else pi.sample()
        return a, pi.log_prob(a), self.critic(obs).squeeze(-1)

    def forward(self, obs: torch.Tensor, action: Optional[torch.Tensor] = None):
        pi = self.dist(obs)
        value = self.critic(obs).squeeze(-1)
        if action is None:
            action = pi.sample()
        return pi.log_prob(action), pi.entropy(), value
