import torch


def attention_bias(n_heads, lengths, max_len):
    slopes = 2.0 ** -torch.arange(1, n_heads + 1)
    distance = -torch.arange(max_len, dtype=torch.float32).flip(0)
    bias = (slopes[:, None] * distance)[None]
    bias = bias.expand(len(lengths), n_heads, max_len)
    valid = torch.arange(max_len)[None] < torch.tensor(lengths)[:, None]
    bias.sub_(1e9 * ~valid[:, None, :])
    return bias


def main():
    torch.manual_seed(0)
    scores = torch.randn(3, 4, 10)
    bias = attention_bias(4, [10, 7, 5], 10)
    probs = torch.softmax(scores + bias, dim=-1)
    print(probs.sum(dim=-1))


main()
