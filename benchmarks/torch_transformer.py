"""A plain PyTorch Transformer, the peer of `translator.py --model transformer`: pre-norm, tied embeddings.

    python benchmarks/torch_transformer.py IDS.json

IDS.json holds source and target, lists of lists of token ids of the training pairs, sentences, those that
are translated after each epoch, and vocabulary, a number; ids 0, 2 and 3 are padding, start and end. A
batch has pairs of about one length. Greedy decoding runs the whole decoder on all that is written so far,
as plain programs do. A JSON line is printed for each epoch: target tokens a second, seconds of decoding.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD, START, END = 0, 2, 3


class Translator(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, hidden, dropout):
        super().__init__()
        self.width = width
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        options = {"dropout": dropout, "batch_first": True, "norm_first": True}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, heads, hidden, **options),
            layers,
            nn.LayerNorm(width),
            enable_nested_tensor=False,
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(width, heads, hidden, **options), layers, nn.LayerNorm(width)
        )
        self.drop = nn.Dropout(dropout)
        angle = torch.arange(512)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))

    def embed(self, ids):
        return self.drop(self.embedding(ids) * math.sqrt(self.width) + self.positions[: ids.shape[1]])

    def encode(self, source):
        return self.encoder(self.embed(source), src_key_padding_mask=source == PAD)

    def decode(self, target, memory, padding):
        future = torch.ones(2 * [target.shape[1]], dtype=torch.bool).triu(1)
        return self.decoder(
            self.embed(target),
            memory,
            tgt_mask=future,
            tgt_is_causal=True,
            memory_key_padding_mask=padding,
        )

    def logits(self, x):
        return x @ self.embedding.weight.T + self.bias

    def forward(self, source, target):
        return self.logits(self.drop(self.decode(target, self.encode(source), source == PAD)))

    @torch.no_grad()
    def greedy(self, source):
        memory, padding = self.encode(source), source == PAD
        written = torch.full((len(source), 1), START)
        done = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(2 * source.shape[1] + 10):
            token = self.logits(self.decode(written, memory, padding)[:, -1]).argmax(-1)
            token = token.masked_fill(done, PAD)
            written = torch.cat([written, token[:, None]], 1)
            done |= token == END
            if done.all():
                break
        return written[:, 1:]


def pad(texts):
    return pad_sequence([torch.tensor(ids) for ids in texts], batch_first=True)


def batches(source, target, size):
    """Lists of numbers of pairs of about one length, in random order."""
    order = random.sample(range(len(target)), len(target))
    pool = 40 * size
    for start in range(0, len(order), pool):
        order[start : start + pool] = sorted(
            order[start : start + pool], key=lambda i: (len(target[i]), len(source[i]))
        )
    found = [order[i : i + size] for i in range(0, len(order), size)]
    random.shuffle(found)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", type=Path)
    parser.add_argument("--embedding", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    data = json.loads(args.ids.read_text())
    source, target = data["source"], [[START, *ids, END] for ids in data["target"]]
    model = Translator(data["vocabulary"], args.embedding, args.layers, args.heads, args.hidden, args.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        model.train()
        start, tokens, total = time.perf_counter(), 0, 0.0
        for batch in batches(source, target, args.batch):
            x, y = pad([source[i] for i in batch]), pad([target[i] for i in batch])
            loss = nn.functional.cross_entropy(
                model(x, y[:, :-1]).flatten(0, 1),
                y[:, 1:].flatten(),
                ignore_index=PAD,
                label_smoothing=0.1,
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            count = int((y[:, 1:] != PAD).sum())
            tokens, total = tokens + count, total + float(loss.detach()) * count
        training = time.perf_counter() - start
        model.eval()
        start = time.perf_counter()
        order = sorted(range(len(data["sentences"])), key=lambda i: len(data["sentences"][i]))
        for i in range(0, len(order), 100):
            model.greedy(pad([data["sentences"][j] for j in order[i : i + 100]]))
        print(
            json.dumps(
                {
                    "epoch": epoch + 1,
                    "loss": total / tokens,
                    "target_tokens_per_second": tokens / training,
                    "decode_seconds": time.perf_counter() - start,
                    "parameters": sum(p.numel() for p in model.parameters()),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
