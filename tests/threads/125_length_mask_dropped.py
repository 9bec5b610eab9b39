# thread: https://github.com/espnet/espnet/pull/1273
# diagnosis: The energies of the padded frames should be masked in place, and the call makes a copy.
# mistake: 26
# expected: TLN212
# symptom: prints attends to padding: True

import torch


def make_pad_mask(lengths, longest):
    return torch.arange(longest)[None, :] >= lengths[:, None]


class AttDot(torch.nn.Module):
    def __init__(self, eprojs, dunits, att_dim):
        super(AttDot, self).__init__()
        self.mlp_enc = torch.nn.Linear(eprojs, att_dim)
        self.mlp_dec = torch.nn.Linear(dunits, att_dim)
        self.mask = None

    def forward(self, enc_hs, enc_len, dec_z, scaling=2.0):
        keys = torch.tanh(self.mlp_enc(enc_hs))
        e = (keys * torch.tanh(self.mlp_dec(dec_z)).unsqueeze(1)).sum(dim=2)
        if self.mask is None:
            self.mask = make_pad_mask(enc_len, e.size(1))
        e.masked_fill(self.mask, -float("inf"))
        w = torch.softmax(scaling * e, dim=1)
        return (enc_hs * w.unsqueeze(2)).sum(dim=1), w


context, w = AttDot(6, 5, 4)(torch.randn(2, 7, 6), torch.tensor([7, 4]), torch.randn(2, 5))
print("attends to padding:", bool(w[1, 4:].sum() > 0))
