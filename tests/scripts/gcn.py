"""A graph convolution on a sparse adjacency: masks choose who is trained on."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam

torch.manual_seed(42)


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim, use_bias=False):
        super().__init__()
        self.kernel = nn.Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = None
        if use_bias:
            self.bias = nn.Parameter(torch.Tensor(output_dim))
            nn.init.zeros_(self.bias)

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.spmm(adj_mat, support)
        if self.bias is not None:
            output = output + self.bias
        return output


class GAT(nn.Module):
    """Attention over the neighbours, dense."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.W = nn.Parameter(torch.empty(in_features, out_features))
        self.a = nn.Parameter(torch.empty(2 * out_features, 1))
        bound = 1 / math.sqrt(in_features)
        nn.init.uniform_(self.W, -bound, bound)
        nn.init.uniform_(self.a, -bound, bound)
        self.out_features = out_features

    def forward(self, h, adj):
        h = h @ self.W
        source = h @ self.a[: self.out_features]
        target = h @ self.a[self.out_features :]
        e = F.leaky_relu(source + target.T, 0.2)
        mask = -9e16 * torch.ones_like(e)
        e = torch.where(adj > 0, e, mask)
        return F.softmax(e, dim=1) @ h


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, dropout_p=0.1):
        super().__init__()
        self.gc1 = GraphConv(input_dim, hidden_dim, use_bias=True)
        self.gc2 = GraphConv(hidden_dim, output_dim)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input_tensor, adj_mat):
        x = F.relu(self.gc1(input_tensor, adj_mat))
        x = self.dropout(x)
        return F.log_softmax(self.gc2(x, adj_mat), dim=1)


def normalise(adj):
    adj = adj + torch.eye(adj.size(0))
    degree = adj.sum(1)
    scale = degree.pow(-0.5)
    scale[scale == float("inf")] = 0.0
    return (scale.unsqueeze(1) * adj * scale.unsqueeze(0)).to_sparse()


def train_iter(epoch, model, optimizer, criterion, features, adj, target, mask_train, mask_val):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss = criterion(output[mask_train], target[mask_train])
    loss.backward()
    optimizer.step()
    loss_val, acc_val = test(model, criterion, features, adj, target, mask_val)
    print(f"epoch {epoch}: {loss.item():.4f} {loss_val:.4f} {acc_val:.4f}")


def test(model, criterion, features, adj, target, mask):
    model.eval()
    with torch.no_grad():
        output = model(features, adj)
        output, target = output[mask], target[mask]
        loss = criterion(output, target)
        acc = (output.argmax(dim=1) == target).float().sum() / len(target)
    return loss.item(), acc.item()


links = (torch.rand(10, 10) > 0.6).float()
links = ((links + links.T) > 0).float()
features, labels = torch.rand(10, 4), torch.randint(3, (10,))
idx = torch.randperm(10)
gcn = GCN(4, 8, 3)
optimizer = Adam(gcn.parameters(), lr=0.01, weight_decay=5e-4)
criterion = nn.NLLLoss()
for epoch in range(3):
    train_iter(epoch, gcn, optimizer, criterion, features, normalise(links), labels, idx[:6], idx[6:])
gat = GAT(4, 3)
F.cross_entropy(gat(features, links), labels).backward()
