#!/usr/bin/env python3
"""What an eager training step of PyTorch calls and moves, counted without a device on tensors that have no elements.

    tests/gpu/torch_count.py [--models resnet50,vgg16] [--batch 256] [--machine h200_nodes]

For each network of torchvision: calls of operators that compute (views do not; each is a launch at least), bytes that
they read and write, operations of convolutions and products, and the time of a step that follows by the rates of a
machine's spec, as `dtnnc forecast` reckons with them: each call an overhead and its slower half. In bfloat16, channels
last, SGD with momentum by one call for all parameters, as PyTorch trains at its best when it is eager; autocast's casts
of weights are not there. Needs torch and torchvision.
"""

import argparse
import os
import re
import sys

try:
    import torch
    import torchvision
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry
    from torch.utils._pytree import tree_flatten
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "specs", "machines")
# Tensors that batch norm's kernels read a second time, by their place among the operands.
READ_AGAIN = {"native_batch_norm": (0,), "_native_batch_norm_legit": (0,), "native_batch_norm_backward": (0, 1)}
UNITS = {"Tflop/s": 1e12, "TB/s": 1e12, "us": 1e-6}


def rates_of(machine):
    """What its devices do a second in bfloat16, and move, and what a kernel takes besides."""
    with open(os.path.join(MACHINES, machine + ".yaml"), encoding="utf-8") as file:
        gpus = file.read().split("\ngpus:")[1]
    figures = []
    for name in ("bf16_rate", "memory_bandwidth", "step_overhead"):
        number, unit = re.search(rf"\b{name}: ([\d.]+)([A-Za-z/]+)", gpus).groups()
        figures.append(float(number) * UNITS[unit])
    return figures


class Count(TorchDispatchMode):
    """Adds up what is called within it."""

    def __init__(self, rates):
        super().__init__()
        self.calls = self.bytes = self.operations = 0
        self.seconds = 0.0
        self.rates = rates

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        results = function(*arguments, **(keywords or {}))
        read = {id(one): one for one in tree_flatten((arguments, keywords))[0] if isinstance(one, torch.Tensor)}
        written = {id(one): one for one in tree_flatten(results)[0] if isinstance(one, torch.Tensor)}
        computes = function.namespace == "aten" and not function.is_view and not function.overloadpacket.__name__.startswith("empty")
        if computes and "detach" not in function.name():
            again = [arguments[place] for place in READ_AGAIN.get(function.overloadpacket.__name__, ())]
            size = sum(one.numel() * one.element_size() for one in (*read.values(), *written.values(), *again))
            counter = flop_registry.get(function.overloadpacket)
            operations = counter(*arguments, **(keywords or {}), out_val=results) if counter else 0
            self.calls += 1
            self.bytes += size
            self.operations += operations
            rate, bandwidth, overhead = self.rates
            self.seconds += overhead + max(operations / rate, size / bandwidth)
        return results


def count(name, batch, rates):
    with torch.device("meta"):
        options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        network = torchvision.models.get_model(name, **options).to(torch.bfloat16).to(memory_format=torch.channels_last)
        images = torch.empty(batch, 3, 224, 224, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
        labels = torch.empty(batch, dtype=torch.int64)
        parameters = list(network.parameters())
        momenta = [torch.empty_like(one, dtype=torch.float32) for one in parameters]
    with Count(rates) as counted:
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
    # One call reads weights, gradients and momenta, and writes weights and momenta, of floats.
    counted.calls += 1
    update = sum(5 * 4 * one.numel() for one in momenta)
    counted.bytes += update
    counted.seconds += rates[2] + update / rates[1]
    return counted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50,vgg16,mobilenet_v2,densenet121")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--machine", default="h100_nodes", help="a spec of specs/machines")
    options = parser.parse_args()
    print(f"{'model':<16} {'calls':>6} {'GB':>7} {'Tflop':>7} {'ms':>7}")
    for name in options.models.split(","):
        counted = count(name, options.batch, rates_of(options.machine))
        print(f"{name:<16} {counted.calls:6} {counted.bytes / 1e9:7.1f} {counted.operations / 1e12:7.2f} {counted.seconds * 1e3:7.1f}")


if __name__ == "__main__":
    main()
