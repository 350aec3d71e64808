"""Transformer encoders written the ways their exporters see them: BERT, MiniLM (a small BERT), DistilBERT."""
import torch


class Layer(torch.nn.Module):
    """One encoder layer. `fill_mask`: scores at masked positions are set to the lowest float (DistilBERT) rather than lowered
    by an added mask (BERT)."""

    def __init__(self, hidden, heads, fill_mask):
        super().__init__()
        linear = torch.nn.Linear
        self.heads, self.fill_mask = heads, fill_mask
        self.q, self.k, self.v, self.o = (linear(hidden, hidden) for _ in range(4))
        self.up, self.down = linear(hidden, 4 * hidden), linear(4 * hidden, hidden)
        self.norm1, self.norm2 = torch.nn.LayerNorm(hidden, eps=1e-12), torch.nn.LayerNorm(hidden, eps=1e-12)

    def attend(self, x, mask):
        batch, length, hidden = x.shape
        size = hidden // self.heads
        split = lambda t: t.view(batch, length, self.heads, size).permute(0, 2, 1, 3)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if self.fill_mask:
            scores = (q / size ** 0.5) @ k.transpose(2, 3)
            hidden_keys = (mask == 0).view(batch, 1, 1, length).expand_as(scores)
            scores = scores.masked_fill(hidden_keys, torch.finfo(torch.float32).min)
        else:
            scores = q @ k.transpose(-1, -2) / size ** 0.5 + (1.0 - mask[:, None, None, :].float()) * -10000.0
        return (torch.softmax(scores, -1) @ v).permute(0, 2, 1, 3).contiguous().view(batch, length, hidden)

    def forward(self, x, mask):
        x = self.norm1(x + self.o(self.attend(x, mask)))
        return self.norm2(x + self.down(torch.nn.functional.gelu(self.up(x))))


class Encoder(torch.nn.Module):
    def __init__(self, layers, hidden, heads, vocabulary=30522, segments=True, fill_mask=False):
        super().__init__()
        embedding = torch.nn.Embedding
        self.word, self.position = embedding(vocabulary, hidden), embedding(512, hidden)
        self.segment = embedding(2, hidden) if segments else None
        self.norm = torch.nn.LayerNorm(hidden, eps=1e-12)
        self.layers = torch.nn.ModuleList([Layer(hidden, heads, fill_mask) for _ in range(layers)])
        self.pool = torch.nn.Linear(hidden, hidden) if segments else None

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        x = self.word(input_ids) + self.position(torch.arange(input_ids.shape[1])[None])
        if self.segment is not None:
            x = x + self.segment(token_type_ids)
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, attention_mask)
        return x if self.pool is None else (x, torch.tanh(self.pool(x[:, 0])))
