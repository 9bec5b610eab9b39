# coding=utf-8
import math
from collections import namedtuple
from dataclasses import dataclass

import torch
import torch.nn as nn

MLMOutput = namedtuple("MLMOutput", ["loss", "logits", "hidden_states"])


@dataclass
class BertishConfig:
    vocab_size: int = 30522
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 2
    intermediate_size: int = 512
    max_position_embeddings: int = 64
    type_vocab_size: int = 2
    hidden_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-12


class BertishEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids, token_type_ids=None):
        seq_length = input_ids.size(1)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings.weight.data[:seq_length]
        return self.dropout(self.LayerNorm(embeddings))


class BertishLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.attn_out = nn.Linear(config.hidden_size, config.hidden_size)
        self.attn_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.out_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def transpose_for_scores(self, x):
        return x.view(*x.shape[:-1], self.num_heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, extended_mask):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_size)
        probs = nn.functional.softmax(scores + extended_mask, dim=-1)
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        context = context.view(*hidden_states.shape)
        hidden_states = self.attn_norm(hidden_states + self.dropout(self.attn_out(context)))
        inner = nn.functional.gelu(self.intermediate(hidden_states))
        return self.out_norm(hidden_states + self.dropout(self.output(inner)))


class BertishForMaskedLM(nn.Module):
    config_class = BertishConfig

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = BertishEmbeddings(config)
        self.encoder = nn.ModuleList([BertishLayer(config) for _ in range(config.num_hidden_layers)])
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.decoder.weight = self.embeddings.word_embeddings.weight  # tied

    def get_extended_mask(self, attention_mask, dtype):
        ext = attention_mask[:, None, None, :].to(dtype)
        return (1.0 - ext) * torch.finfo(dtype).min

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None, **kwargs):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        x = self.embeddings(input_ids, token_type_ids)
        mask = self.get_extended_mask(attention_mask, x.dtype)
        all_hidden = (x,)
        for layer in self.encoder:
            x = layer(x, mask)
            all_hidden += (x,)
        logits = self.decoder(x)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, self.config.vocab_size), labels.view(-1))
        return MLMOutput(loss=loss, logits=logits, hidden_states=all_hidden)
