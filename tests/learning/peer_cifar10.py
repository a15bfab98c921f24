#!/usr/bin/env python3
"""Trains specs/jobs/cifar10_resnet20.yaml's network by PyTorch, on the same samples, by the same recipe.

usage: peer_cifar10.py CIFAR10_FOLDER [--epochs 20]        (needs python3-torch; the folder of the binary version)

What our accuracy is to be compared with: same layers and first values, batches of 64 in random order, flips, crops of 2 padded pixels
filled with the mean gray, SGD with Nesterov momentum, a warm-up over one epoch, then a cosine. One line an epoch. One thread: about 40
minutes.
"""
import argparse
import math
import pathlib
import time

import numpy as np
import torch
from torch import nn

BATCH, RATE, DECAY, MOMENTUM, SMOOTHING = 64, 0.05, 5e-4, 0.9, 0.1
PADDING, FILL = 2, 0.47
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32).reshape(1, 3, 1, 1)
DEVIATION = np.array([0.2470, 0.2435, 0.2616], np.float32).reshape(1, 3, 1, 1)


def read(folder, names):
    rows = np.concatenate([np.fromfile(folder / name, np.uint8).reshape(-1, 3073) for name in names])
    pixels = rows[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255
    return (pixels - MEAN) / DEVIATION, rows[:, 0].astype(np.int64)


def convolution(inputs, outputs, kernel, stride=1):
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2)
    nn.init.kaiming_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def dense(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Residual(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.main = nn.Sequential(convolution(inputs, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU(),
                                  convolution(width, width, 3), nn.BatchNorm2d(width))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != width:
            self.shortcut = nn.Sequential(convolution(inputs, width, 1, stride), nn.BatchNorm2d(width))

    def forward(self, src):
        return torch.relu(self.main(src) + self.shortcut(src))


def resnet20():
    layers, inputs = [convolution(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()], 16
    for width, first_stride in ((16, 1), (32, 2), (64, 2)):
        for block in range(3):
            layers.append(Residual(inputs, width, first_stride if block == 0 else 1))
            inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), dense(64, 64), nn.BatchNorm1d(64), nn.ReLU(), dense(64, 10))


def augmented(padded, chosen):
    tops, lefts = (np.random.randint(0, 2 * PADDING + 1, len(chosen)) for _ in range(2))
    flips = np.random.rand(len(chosen)) < 0.5
    crops = [padded[i, :, top:top + 32, left:left + 32] for i, top, left in zip(chosen, tops, lefts)]
    return torch.from_numpy(np.stack([crop[:, :, ::-1] if flip else crop for crop, flip in zip(crops, flips)]))


def rate_factor(step, steps, epochs):
    done = step / steps  # epochs
    return 0.1 + 0.9 * done if done < 1 else 0.5 * (1 + math.cos(math.pi * (done - 1) / (epochs - 1)))


def accuracy(network, samples, labels):
    network.eval()
    with torch.no_grad():
        right = [network(torch.from_numpy(samples[i:i + 500])).argmax(1).numpy() == labels[i:i + 500] for i in range(0, len(samples), 500)]
    return np.concatenate(right).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)
    samples, labels = read(arguments.folder, [f"data_batch_{i}.bin" for i in range(1, 6)])
    test_samples, test_labels = read(arguments.folder, ["test_batch.bin"])
    padded = np.empty((len(samples), 3, 32 + 2 * PADDING, 32 + 2 * PADDING), np.float32)
    padded[:] = (FILL - MEAN) / DEVIATION
    padded[:, :, PADDING:PADDING + 32, PADDING:PADDING + 32] = samples
    network = resnet20()
    loss_of = nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    optimizer = torch.optim.SGD(network.parameters(), RATE, momentum=MOMENTUM, nesterov=True, weight_decay=DECAY)
    steps = math.ceil(len(samples) / BATCH)
    for epoch in range(arguments.epochs):
        begin, right, losses = time.time(), 0, 0.0
        network.train()
        order = np.random.permutation(len(samples))
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = RATE * rate_factor(epoch * steps + step, steps, arguments.epochs)
            chosen = order[step * BATCH:(step + 1) * BATCH]
            wanted = torch.from_numpy(labels[chosen])
            scores = network(augmented(padded, chosen))
            loss = loss_of(scores, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (scores.argmax(1) == wanted).sum().item()
            losses += loss.item() * len(chosen)
        print(f"epoch {epoch + 1}: loss {losses / len(samples):.4f}, accuracy {right / len(samples):.2%}, "
              f"test accuracy {accuracy(network, test_samples, test_labels):.2%}, {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
