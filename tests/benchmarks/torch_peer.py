#!/usr/bin/python3
"""Trains one of the shipped models with PyTorch on made-up data and prints samples per second as JSON.

PyTorch's best form on CPUs: channels last, one set of gradient tensors kept, huge pages (the caller sets GLIBC_TUNABLES).
Layers and parameter counts are those of specs/models; the loss is cross entropy on logits.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn


def simplecnn():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)), (1, 28, 28), 202_458


def vgg16_cifar10():
    layers, channels = [], 3
    for repeats, width in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]:
        for _ in range(repeats):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        layers.append(nn.MaxPool2d(2))
    layers.append(nn.Flatten())
    for _ in range(2):
        layers += [nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.5)]
    return nn.Sequential(*layers, nn.Linear(512, 10)), (3, 32, 32), 15_245_130


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["simplecnn", "vgg16_cifar10"])
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model, shape, parameters = globals()[options.model]()
    assert sum(p.numel() for p in model.parameters()) == parameters
    model = model.to(memory_format=torch.channels_last).train()
    optimizer = (torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9) if options.optimizer == "sgd"
                 else torch.optim.Adam(model.parameters(), lr=0.001))
    loss_function = nn.CrossEntropyLoss()
    source = torch.rand(options.batch, *shape).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (options.batch,))

    times = []
    for step in range(options.steps + 3):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        loss = loss_function(model(source), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        if step >= 3:
            times.append(time.perf_counter() - start)
    rates = [options.batch / t for t in times]
    print(json.dumps({"samples_per_second": {"median": statistics.median(rates), "min": min(rates), "max": max(rates)},
                      "threads": options.threads, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
