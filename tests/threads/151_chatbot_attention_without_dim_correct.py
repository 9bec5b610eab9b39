# correct: 151_chatbot_attention_without_dim.py
# cure: The dimension is the last one.

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttnDecoder(nn.Module):
    def __init__(self, hidden_size, output_size, max_length):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attn = nn.Linear(hidden_size * 2, max_length)
        self.combine = nn.Linear(hidden_size * 2, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, word, hidden, encoder_outputs):
        embedded = self.embedding(word)
        query = torch.cat((embedded, hidden.transpose(0, 1)), dim=2)
        attn_weights = F.softmax(self.attn(query), dim=-1)
        applied = torch.bmm(attn_weights, encoder_outputs)
        output = F.relu(self.combine(torch.cat((embedded, applied), dim=2)))
        return self.gru(output, hidden)


decoder = AttnDecoder(8, 30, max_length=5)
out, h = decoder(torch.randint(0, 30, (2, 1)), torch.zeros(1, 2, 8), torch.randn(2, 5, 8))
