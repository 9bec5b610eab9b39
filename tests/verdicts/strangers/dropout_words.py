import torch
from torch.utils.data import DataLoader, TensorDataset

UNK = 1


def word_dropout(tokens, p, generator):
    tokens = tokens.clone()
    drop = torch.rand(tokens.shape, generator=generator) < p
    tokens[drop].fill_(UNK)
    return tokens


def main():
    gen = torch.Generator().manual_seed(0)
    corpus = torch.randint(2, 100, (64, 20), generator=gen)
    loader = DataLoader(TensorDataset(corpus), batch_size=16, shuffle=True, generator=gen)
    replaced = 0
    for (tokens,) in loader:
        noisy = word_dropout(tokens, 0.15, gen)
        replaced += (noisy == UNK).sum().item()
    print(f"replaced {replaced} of {corpus.numel()} tokens")
    return replaced


if __name__ == "__main__":
    main()
