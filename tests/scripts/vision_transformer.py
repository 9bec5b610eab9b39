"""A vision transformer: a class token and positions as parameters, stochastic depth, mixed-up labels."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep_prob = 1 - self.drop_prob
        random_tensor = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep_prob)
        random_tensor.div_(keep_prob)
        return x * random_tensor


class PatchExtractor(nn.Module):
    def __init__(self, patch_size=4):
        super().__init__()
        self.patch_size = patch_size

    def forward(self, images):
        batch, channels, height, width = images.size()
        p = self.patch_size
        patches = images.unfold(2, p, p).unfold(3, p, p)
        patches = patches.permute(0, 2, 3, 1, 4, 5).contiguous()
        return patches.view(batch, (height // p) * (width // p), channels * p * p)


class Block(nn.Module):
    def __init__(self, dim, heads, drop_path):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))
        self.drop_path = DropPath(drop_path)
        self.gamma = nn.Parameter(1e-2 * torch.ones(dim))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.drop_path(self.attn(h, h, h, need_weights=False)[0])
        return x + self.drop_path(self.gamma * self.mlp(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, size=8, patch=4, dim=8, depth=2, classes=3):
        super().__init__()
        self.extract = PatchExtractor(patch)
        count = (size // patch) ** 2
        self.embed = nn.Linear(3 * patch * patch, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, count + 1, dim))
        self.blocks = nn.Sequential(*[Block(dim, 2, rate.item()) for rate in torch.linspace(0, 0.2, depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.trunc_normal_(m.weight, std=0.02)
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.embed(self.extract(x))
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls, x), dim=1) + self.pos_embed
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def mixup(x, y, classes, alpha=0.8):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    target = F.one_hot(y, classes).float()
    return x.mul(lam).add_(x.flip(0), alpha=1 - lam), target * lam + target.flip(0) * (1 - lam)


model = ViT()
no_decay = {"pos_embed", "cls_token"}
groups = [
    {"params": [p for n, p in model.named_parameters() if n not in no_decay and p.ndim > 1]},
    {"params": [p for n, p in model.named_parameters() if n in no_decay or p.ndim <= 1], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.05)
for step in range(3):
    images, labels = torch.rand(4, 3, 8, 8), torch.randint(3, (4,))
    mixed, target = mixup(images, labels, 3)
    loss = F.cross_entropy(model(mixed), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
model.eval()
with torch.inference_mode():
    print(model(torch.rand(2, 3, 8, 8)).softmax(-1))
