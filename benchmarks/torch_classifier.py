"""A plain PyTorch classifier, the peer of `classifier.py`: embedding → BiLSTM → additive attention → classes.

    python benchmarks/torch_classifier.py IDS.json [--buckets]

IDS.json holds train and test, each with ids (a list of lists) and labels, and vocabulary and classes, two
numbers. A batch is padded to its longest text; `pack_padded_sequence` keeps the padding out of the BiLSTM.
Batches are drawn from all texts at random; with --buckets, from texts of about one length. The last line is
JSON: texts a second in training, all epochs but the first, and in prediction.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class Classifier(nn.Module):
    def __init__(self, vocabulary, classes, embedding, units, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding, units, batch_first=True, bidirectional=True)
        self.hidden, self.vector = nn.Linear(2 * units, units), nn.Linear(units, 1, bias=False)
        self.output = nn.Linear(2 * units, classes)
        self.drop = nn.Dropout(dropout)

    def forward(self, ids):
        mask = ids != 0
        packed = pack_padded_sequence(
            self.drop(self.embedding(ids)), mask.sum(1), batch_first=True, enforce_sorted=False
        )
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # (B, T, 2 · units)
        scores = self.vector(torch.tanh(self.hidden(h)))[..., 0]  # (B, T)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        pooled = torch.bmm(weights[:, None], h)[:, 0]  # (B, 2 · units)
        return self.output(self.drop(pooled)), weights


def batches(texts, size, buckets):
    """Lists of numbers of texts, in random order."""
    order = random.sample(range(len(texts)), len(texts))
    pool = 40 * size if buckets else 1
    for start in range(0, len(order), pool) if buckets else ():
        order[start : start + pool] = sorted(order[start : start + pool], key=lambda i: len(texts[i]))
    found = [order[i : i + size] for i in range(0, len(order), size)]
    random.shuffle(found)
    return found


def pad(texts):
    return pad_sequence([torch.tensor(ids) for ids in texts], batch_first=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", type=Path)
    parser.add_argument("--embedding", type=int, default=128)
    parser.add_argument("--units", type=int, default=128)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--buckets", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    data = json.loads(args.ids.read_text())
    ids, labels = data["train"]["ids"], torch.tensor(data["train"]["labels"])
    model = Classifier(data["vocabulary"], data["classes"], args.embedding, args.units, args.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    seconds = []
    for _ in range(args.epochs):
        model.train()
        start = time.perf_counter()
        for batch in batches(ids, args.batch, args.buckets):
            loss = nn.functional.cross_entropy(model(pad([ids[i] for i in batch]))[0], labels[batch])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        seconds.append(time.perf_counter() - start)
    model.eval()
    test = data["test"]
    order = list(range(len(test["ids"])))
    if args.buckets:
        order.sort(key=lambda i: len(test["ids"][i]))
    hits, start = 0, time.perf_counter()
    with torch.no_grad():
        for i in range(0, len(order), args.batch):
            batch = order[i : i + args.batch]
            found = model(pad([test["ids"][j] for j in batch]))[0].argmax(-1)
            hits += (found == torch.tensor([test["labels"][j] for j in batch])).sum().item()
    predicting = time.perf_counter() - start
    print(
        json.dumps(
            {
                "training": len(ids) * (args.epochs - 1) / sum(seconds[1:]),
                "prediction": len(order) / predicting,
                "accuracy": hits / len(order),
                "parameters": sum(p.numel() for p in model.parameters()),
            }
        )
    )


if __name__ == "__main__":
    main()
