#!/usr/bin/env python3
"""What `dtnnc export` writes, beside ONNX Runtime: predictions within 1e-5 of dtnn-run's, whatever the batch.

    python3 tests/peers/onnx/test_export.py                     # small shipped models, and random networks: a minute
    python3 tests/peers/onnx/test_export.py --all               # every shipped model
    python3 tests/peers/onnx/test_export.py resnet50 unet       # some
    python3 tests/peers/onnx/test_export.py --random 0 200      # networks of these numbers

It needs onnx, onnxruntime and numpy, says so and ends with 77 where they are not. Weights and statistics are random.
The programs are those of DTNN_BIN, else of build/release/bin."""

import argparse
import glob
import os
import sys
import tempfile
import time

from networks import random_network
from peer import LEAST_OPSET, MOST_OPSET, ROOT, Failed, Network

LIMIT = 1e-5
SMALL = ["lenet5", "simplecnn", "simplemlp", "residual_small", "inception_small", "mnist_cnn", "unet", "resnet20_cifar10",
         "densenet_cifar10"]


def shipped():
    """Files by name: a job may be called as a model is."""
    files = glob.glob(os.path.join(ROOT, "specs", "models", "**", "*.yaml"), recursive=True)
    return {os.path.splitext(os.path.basename(file))[0]: file for file in files}


def check(name, spec, batch, opsets):
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if "\n" in spec:
            path = os.path.join(folder, "model.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(spec)
            spec = path
        try:
            # A model alone gets batches of 64, for which a large one would need more memory than machines have.
            network = Network(spec, folder, seed=len(name) + sum(map(ord, name)), batch=batch,
                              settings=[f"training.batch_size={batch}"])
            network.calibrate()
            ours = network.predict()
            worst = max(network.difference(network.export("net.onnx", "--opset", str(opset)), ours)
                        for opset in opsets)
        except Failed as error:
            print(f"{name}: {error}", flush=True)
            return False
    good = worst <= LIMIT
    print(f"{name:<28} {worst:.1e}  {time.monotonic() - began:.1f} s{'' if good else '  DIFFERS'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--random", nargs=2, type=int, metavar=("FIRST", "END"))
    parser.add_argument("--batch", type=int, default=3)
    given = parser.parse_args()
    usual = not (given.models or given.all or given.random)
    files = shipped()
    models = sorted(files) if given.all else given.models or (SMALL if usual else [])
    numbers = range(*(given.random or ((0, 60) if usual else (0, 0))))
    # The newest operators are of the random networks, which have all rules.
    results = [check(name, files[name], given.batch, [LEAST_OPSET]) for name in models]
    results += [check(f"random {number}", random_network(number), given.batch, [LEAST_OPSET, MOST_OPSET])
                for number in numbers]
    if not results:
        parser.error("no network has a number from FIRST up to END")
    print(f"{sum(results)} of {len(results)} within {LIMIT:.0e}")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
