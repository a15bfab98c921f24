#!/usr/bin/env python3
"""The chains of codegen_bench by PyTorch's torch.compile: GB/s, every operand counted once.

    codegen_peer.py [THREADS] [MIB]      needs PyTorch and a C++ compiler
"""

import statistics
import sys
import time

import torch
from torch.nn import functional as F

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
MIB = int(sys.argv[2]) if len(sys.argv) > 2 else 64
ROUNDS = 9


def relu6_backward(e, y):
    return torch.where((y > 0) & (y < 6), e, 0.0)


def hard_swish_backward(e, x):
    return e * torch.where(x > -3, torch.where(x < 3, x / 3 + 0.5, 1.0), 0.0)


CHAINS = [
    ("relu", lambda x: F.relu(x), 1, 0),
    ("relu backward", lambda e, y: torch.where(y > 0, e, 0.0), 2, 0),
    ("add and relu", lambda x, y: F.relu(x + y), 2, 0),
    ("relu6", lambda x: F.relu6(x), 1, 0),
    ("relu6 backward", relu6_backward, 2, 0),
    ("hard_swish", lambda x: F.hardswish(x), 1, 0),
    ("hard_swish backward", hard_swish_backward, 2, 0),
    ("five operations", lambda x: torch.clamp((x * 0.5 + 1) * x, max=2) - x, 1, 0),
    ("silu", lambda x: F.silu(x), 1, 0),
    ("scale, shift, add, relu, 64 channels", lambda x, y, c, d: F.relu(x * c + d + y), 2, 64),
    ("scale, shift, add, relu, 1024 channels", lambda x, y, c, d: F.relu(x * c + d + y), 2, 1024),
]


def rate(function, operands, moved):
    function(*operands)
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        function(*operands)
        seconds.append(time.perf_counter() - begin)
    return moved / statistics.median(seconds) / 1e9


def main():
    torch.set_num_threads(THREADS)
    torch.set_flush_denormal(True)
    torch.set_grad_enabled(False)
    count = MIB * (1 << 18)
    arrays = [torch.linspace(-6.7, 6.7, count), torch.linspace(6.7, -6.7, count)]
    destination = torch.empty(count)
    print(f"{THREADS} threads, arrays of {MIB} MiB, PyTorch {torch.__version__}")
    print(f"{'':40} {'compiled':>9} {'copy':>9}")
    for name, function, sources, channels in CHAINS:
        shape = (count // channels, channels) if channels else (count,)
        operands = [array.view(shape) for array in arrays[:sources]]
        if channels:
            operands += [torch.rand(channels), torch.rand(channels)]
        result = destination.view(shape)

        def compiled_body(*given, function=function, result=result):
            result.copy_(function(*given))

        # Into memory that is there, as ours: fresh pages would cost more than the work.
        torch._dynamo.reset()
        compiled = torch.compile(compiled_body, dynamic=False)
        moved = (sources + 1) * count * 4
        print(f"{name:40} {rate(compiled, operands, moved):9.1f} "
              f"{rate(lambda: destination.copy_(arrays[0]), [], 2 * count * 4):9.1f}", flush=True)


if __name__ == "__main__":
    main()
