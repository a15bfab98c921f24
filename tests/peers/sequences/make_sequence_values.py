#!/usr/bin/env python3
"""Writes sequence_values.json: what PyTorch makes of four networks over sequences, in double, trained by plain SGD on the batches
that are listed, under the mean cross-entropy. Their specs stand in sequences_test.cpp, where dropout of rate 0 changes nothing.

    features    [16 steps, 32 features], a class for each sample: dense layers, layer_norm, softmax over the steps, concat, mean
    tokens      [7 steps] of integers, a class for each step: embeddings, causal attention over queries, keys and values side by
                side, and over queries that share keys and values, both turned by rotary embeddings, with dropout by our own
                random numbers; rms_norm, swiglu
    shared      the same tokens; layers that share parameters: repetitions, two uses of a block, layers that read the weights of
                others as they are and the other way round, and the table of the words at the end, with a bias of its own
    recurrent   the same tokens; an LSTM each way, side by side, a GRU, the other way too, and a plain recurrent layer

Needs PyTorch and NumPy; the test does not.
"""

import json
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

SAMPLES, BATCH, UPDATES, RATE = 12, 4, 9, 0.5
UNITS, CLASSES = 8, 3
STEPS, WORDS, WIDTH, HEADS, HIDDEN, NARROW = 7, 11, 12, 3, 10, 5


def made(shape, seed, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).round(3)


def features_logits(w, x, update):
    a = x @ w["a.weights"] + w["a.bias"]
    b = torch.relu(F.layer_norm(a, (UNITS,), w["norm.gamma"], w["norm.beta"], 1e-5))
    c = torch.softmax(a, dim=1)
    d = torch.cat([b + a, c], dim=1)
    return d.mean(dim=1) @ w["last.weights"] + w["last.bias"]


def by_head(x, heads):
    """[N, T, heads * width] as [N, heads, T, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def turned(x, base=10000.0):
    """Llama's rotary embedding of [N, heads, T, width]."""
    width = x.shape[-1]
    speeds = base ** (-2.0 * torch.arange(width // 2, dtype=x.dtype) / width)
    angles = torch.outer(torch.arange(x.shape[2], dtype=x.dtype), speeds).repeat(1, 2)
    other = torch.cat([-x[..., width // 2:], x[..., :width // 2]], dim=-1)
    return x * angles.cos() + other * angles.sin()


def philox(counter, key):
    """Philox4x32-10 (Salmon and others, 2011): four words of each counter [..., 4], by a key of 64 bits."""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = (counter[..., i].astype(np.uint64) for i in range(4))
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1), p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


def kept(rate, stream, update, heads):
    """What attention keeps of the batch of an update, and by which factor: [N, heads, T, T] (kernels/arguments/attention.hpp)."""
    purpose_of_dropout, seed = 4, 0
    first, second = philox(np.array([stream, 0, purpose_of_dropout, 0]), seed)[:2]
    epoch, batch = divmod(update, SAMPLES // BATCH)
    words = np.arange(BATCH * heads * STEPS * STEPS) + batch * BATCH * heads * STEPS * STEPS
    zeros = np.zeros_like(words)
    drawn = philox(np.stack([words // 4, zeros, zeros + epoch, zeros], axis=-1), int(first) | int(second) << 32)
    own = np.take_along_axis(drawn, words[:, None] % 4, axis=1)[:, 0]
    mask = (own >= np.ceil(rate * 2.0 ** 32)) / (1 - rate)
    return torch.tensor(mask.reshape(BATCH, heads, STEPS, STEPS))


def attention(q, k, v, mask):
    """Causal, of [N, heads, T, width]; keys and values may have one head for all."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1), -torch.inf)
    return (torch.softmax(scores, dim=-1) * mask) @ v


def tokens_logits(w, x, update):
    def dense(name, y):
        return y @ w[name + ".weights"] + w[name + ".bias"]

    x = F.embedding(x, w["words.weights"]) + w["places.weights"][:STEPS]
    y = F.layer_norm(x, (WIDTH,), w["n1.gamma"], w["n1.beta"], 1e-5)
    q, k, v = (by_head(part, HEADS) for part in dense("qkv", y).chunk(3, dim=-1))
    x = x + dense("out1", joined(attention(q, k, v, kept(0.3, 4, update, HEADS))))
    y = F.rms_norm(x, (WIDTH,), w["n2.gamma"], 1e-5)
    q, k, v = by_head(dense("q", y), HEADS), by_head(dense("k", y), 1), by_head(dense("v", y), 1)
    mixed = attention(turned(q), turned(k), v, kept(0.2, 13, update, HEADS))
    x = x + dense("out2", joined(mixed))
    x = x + dense("down", F.silu(dense("gate", x)) * dense("up", x))
    return dense("last", F.layer_norm(x, (WIDTH,), w["n3.gamma"], w["n3.beta"], 1e-5))


def first_of_tokens():
    shapes = {"words.weights": (WORDS, WIDTH), "places.weights": (STEPS + 2, WIDTH), "n1.gamma": (WIDTH,), "n1.beta": (WIDTH,),
              "n2.gamma": (WIDTH,), "n3.gamma": (WIDTH,), "n3.beta": (WIDTH,)}
    for name, inputs, units in (("qkv", WIDTH, 3 * WIDTH), ("out1", WIDTH, WIDTH), ("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH // HEADS),
                                ("v", WIDTH, WIDTH // HEADS), ("out2", WIDTH, WIDTH), ("gate", WIDTH, HIDDEN),
                                ("up", WIDTH, HIDDEN), ("down", HIDDEN, WIDTH), ("last", WIDTH, WORDS)):
        shapes[name + ".weights"], shapes[name + ".bias"] = (inputs, units), (units,)
    return {name: made(shape, 20 + i, 0.3) + (1 if name.endswith("gamma") else 0)
            for i, (name, shape) in enumerate(shapes.items())}


def shared_logits(w, x, update):
    def dense(name, y):
        return y @ w[name + ".weights"] + w[name + ".bias"]

    def tower(y):
        return torch.tanh(dense("one/in", y)) @ w["one/out.weights"]

    x = F.embedding(x, w["words.weights"])
    for _ in range(2):
        x = F.gelu(dense("turn_1/mix", F.layer_norm(x, (WIDTH,), w["turn_1/norm.gamma"], w["turn_1/norm.beta"], 1e-5)))
    one = tower(x)
    narrow = dense("one/in", one + tower(one))
    return narrow @ w["one/in.weights"].T @ w["words.weights"].T + w["last.bias"]


def first_of_shared():
    shapes = {"words.weights": (WORDS, WIDTH), "turn_1/norm.gamma": (WIDTH,), "turn_1/norm.beta": (WIDTH,),
              "turn_1/mix.weights": (WIDTH, WIDTH), "turn_1/mix.bias": (WIDTH,), "one/in.weights": (WIDTH, NARROW),
              "one/in.bias": (NARROW,), "one/out.weights": (NARROW, WIDTH), "last.bias": (WORDS,)}
    return {name: made(shape, 50 + i, 0.4) + (1 if name.endswith("gamma") else 0)
            for i, (name, shape) in enumerate(shapes.items())}


def recurrent(w, name, x, cell, reversed_=False):
    """One layer by PyTorch's own, whose weights are rows and whose biases are two."""
    weights, hidden, bias = w[name + ".weights"].T, w[name + ".hidden_weights"].T, w[name + ".bias"]
    more = torch.zeros_like(bias)
    if cell == "gru":
        more = torch.cat([torch.zeros(2 * hidden.shape[1], dtype=bias.dtype), w[name + ".hidden_bias"]])
    state = torch.zeros(1, x.shape[0], hidden.shape[1], dtype=x.dtype)
    state = (state, state) if cell == "lstm" else state
    run = {"lstm": torch._VF.lstm, "gru": torch._VF.gru, "rnn": torch._VF.rnn_tanh}[cell]
    x = x.flip(1) if reversed_ else x
    y = run(x, state, [weights, hidden, bias, more], True, 1, 0.0, True, False, True)[0]
    return y.flip(1) if reversed_ else y


def recurrent_logits(w, x, update):
    x = F.embedding(x, w["words.weights"])
    x = torch.cat([recurrent(w, "there", x, "lstm"), recurrent(w, "back", x, "lstm", True)], dim=-1)
    x = recurrent(w, "down", recurrent(w, "up", x, "gru"), "gru", True)
    return recurrent(w, "plain", x, "rnn") @ w["last.weights"] + w["last.bias"]


def first_of_recurrent():
    shapes = {"words.weights": (WORDS, WIDTH)}
    for name, inputs, units, parts in (("there", WIDTH, NARROW, 4), ("back", WIDTH, NARROW, 4), ("up", 2 * NARROW, HIDDEN, 3),
                                       ("down", HIDDEN, NARROW, 3), ("plain", NARROW, UNITS, 1)):
        shapes[name + ".weights"], shapes[name + ".hidden_weights"] = (inputs, parts * units), (units, parts * units)
        shapes[name + ".bias"] = (parts * units,)
        if parts == 3:
            shapes[name + ".hidden_bias"] = (units,)
    shapes["last.weights"], shapes["last.bias"] = (UNITS, WORDS), (WORDS,)
    return {name: made(shape, 70 + i, 0.5) for i, (name, shape) in enumerate(shapes.items())}


def trained(source, labels, first, logits, rate=RATE):
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in first.items()}
    optimizer = torch.optim.SGD(weights.values(), lr=rate)
    losses = []
    for update in range(UPDATES):
        begin = BATCH * update % SAMPLES
        rows = slice(begin, begin + BATCH)
        optimizer.zero_grad()
        given = logits(weights, torch.tensor(source[rows]), update)
        loss = F.cross_entropy(given.flatten(0, -2), torch.tensor(labels[rows]).flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {
        "source": source.ravel().tolist(),
        "labels": labels.ravel().tolist(),
        "rate": rate,
        "first": {name: value.ravel().tolist() for name, value in first.items()},
        "losses": losses,
        "weights": {name: value.detach().numpy().ravel().tolist() for name, value in weights.items()},
    }


def main():
    features = trained(
        made((SAMPLES, 16, 32), 1), np.random.default_rng(2).integers(0, CLASSES, SAMPLES),
        {"a.weights": made((32, UNITS), 3, 0.3), "a.bias": made((UNITS,), 4, 0.1), "norm.gamma": 1 + made((UNITS,), 5, 0.1),
         "norm.beta": made((UNITS,), 6, 0.1), "last.weights": made((UNITS, CLASSES), 7, 0.5),
         "last.bias": made((CLASSES,), 8, 0.1)},
        features_logits)
    draw = np.random.default_rng(9)
    tokens = trained(draw.integers(0, WORDS, (SAMPLES, STEPS)), draw.integers(0, WORDS, (SAMPLES, STEPS)), first_of_tokens(),
                     tokens_logits)
    shared = trained(draw.integers(0, WORDS, (SAMPLES, STEPS)), draw.integers(0, WORDS, (SAMPLES, STEPS)), first_of_shared(),
                     shared_logits, rate=0.1)
    cells = trained(draw.integers(0, WORDS, (SAMPLES, STEPS)), draw.integers(0, WORDS, (SAMPLES, STEPS)), first_of_recurrent(),
                    recurrent_logits)
    path = pathlib.Path(__file__).with_name("sequence_values.json")
    path.write_text(json.dumps({"features": features, "tokens": tokens, "shared": shared, "recurrent": cells},
                               separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
