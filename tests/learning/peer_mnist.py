#!/usr/bin/env python3
"""Trains specs/jobs/mnist_cnn.yaml's network by PyTorch, on the same samples, by the same recipe.

usage: peer_mnist.py MNIST_FOLDER [--epochs 6] [--samples 60000] [--seeds 3] [--threads 1]      (needs python3-torch; four .gz files)

What our accuracy is to be compared with: same layers and first values, batches of 128 in random order, crops of 2 padded pixels, SGD with
Nesterov momentum and weight decay, one cycle of the learning rate. One line a seed: the test split's accuracy.
"""
import argparse
import gzip
import math
import pathlib

import numpy as np
import torch
from torch import nn

BATCH, RATE, DECAY, MOMENTUM = 128, 0.1, 5e-4, 0.9
RISE, START, END = 0.3, 25, 1e4
PADDING, MEAN, DEVIATION, WIDTH, DROPPED = 2, 0.1307, 0.3081, 32, 0.3


def read(folder, split):
    labels = gzip.open(folder / f"{split}-labels-idx1-ubyte.gz").read()[8:]
    pixels = gzip.open(folder / f"{split}-images-idx3-ubyte.gz").read()[16:]
    images = np.frombuffer(pixels, np.uint8).reshape(-1, 1, 28, 28).astype(np.float32) / 255
    return images, np.frombuffer(labels, np.uint8).astype(np.int64)


def network():
    layers, inputs = [], 1
    for filters, last in ((WIDTH, False), (WIDTH, True), (2 * WIDTH, False), (2 * WIDTH, True)):
        convolution = nn.Conv2d(inputs, filters, 3, padding=1, bias=False)
        nn.init.xavier_uniform_(convolution.weight)
        layers += [convolution, nn.BatchNorm2d(filters), nn.ReLU()] + ([nn.MaxPool2d(2)] if last else [])
        inputs = filters
    dense = nn.Linear(7 * 7 * inputs, 10)
    nn.init.xavier_uniform_(dense.weight)
    nn.init.zeros_(dense.bias)
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(DROPPED), dense)


def rate_factor(update, updates):
    """Up by half a cosine from 1 / START to 1, and down to END below its start (one_cycle)."""
    top, last = max(0, RISE * updates - 1), updates - 1
    begin, end, done = (1 / START, 1, update / top) if update < top else (1, 1 / START / END, (update - top) / (last - top))
    return end + (begin - end) / 2 * (1 + math.cos(math.pi * done))


def trained(images, labels, epochs, seed):
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    net = network().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), RATE, momentum=MOMENTUM, nesterov=True, weight_decay=DECAY)
    padded = np.pad(images, ((0, 0), (0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    steps = math.ceil(len(images) / BATCH)
    for epoch in range(epochs):
        order = random.permutation(len(images))
        for step in range(steps):
            chosen = order[step * BATCH:(step + 1) * BATCH]
            tops, lefts = random.integers(0, 2 * PADDING + 1, (2, len(chosen)))
            batch = np.stack([padded[i, :, top:top + 28, left:left + 28] for i, top, left in zip(chosen, tops, lefts)])
            optimizer.param_groups[0]["lr"] = RATE * rate_factor(epoch * steps + step, epochs * steps)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(torch.from_numpy((batch - MEAN) / DEVIATION)), torch.from_numpy(labels[chosen])).backward()
            optimizer.step()
    return net


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        given = [net(torch.from_numpy((images[i:i + 500] - MEAN) / DEVIATION)).argmax(1).numpy() for i in range(0, len(images), 500)]
    return (np.concatenate(given) == labels).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--samples", type=int, default=60000, help="the first of the training split")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    (images, labels), test = (read(arguments.folder, split) for split in ("train", "t10k"))
    found = []
    for seed in range(1, arguments.seeds + 1):
        found.append(accuracy(trained(images[:arguments.samples], labels[:arguments.samples], arguments.epochs, seed), *test))
        print(f"seed {seed}: {found[-1]:.2%}", flush=True)
    print(f"mean {np.mean(found):.2%}, least {min(found):.2%}, most {max(found):.2%}")


if __name__ == "__main__":
    main()
