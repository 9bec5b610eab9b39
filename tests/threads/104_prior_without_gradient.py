# thread: https://github.com/evanmy/sae/issues/5
# diagnosis: A custom function takes its input and a constant, and its backward returns the input's gradient alone.
# mistake: 20
# expected: TLN503
# symptom: raises RuntimeError: returned an incorrect number of gradients

import torch


class PullToPrior(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, prior):
        ctx.save_for_backward(z, prior)
        return z.clone()

    @staticmethod
    def backward(ctx, grad_output):
        z, prior = ctx.saved_tensors
        pull = (z.mean(0) - prior) / z.size(0)
        return grad_output + pull.expand_as(z)


def segment(encoder, decoder, volume, prior):
    z = PullToPrior.apply(encoder(volume), prior)
    return torch.softmax(decoder(z), dim=1)


encoder, decoder = torch.nn.Linear(10, 4), torch.nn.Linear(4, 6)
probabilities = segment(encoder, decoder, torch.randn(3, 10), prior=torch.zeros(4))
(-probabilities.log().mean()).backward()
