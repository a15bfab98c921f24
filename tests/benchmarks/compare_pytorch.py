#!/usr/bin/env python3
"""Compares training speed with PyTorch (Debian's python3-torch), measured alternately in one run.

    tests/benchmarks/compare_pytorch.py [--models simplecnn,vgg16_cifar10] [--threads 1] [--rounds 5]

Each round runs dtnn-run bench and then PyTorch on the same model, batch and optimizer. Printed is the median of the rounds' ratios,
which survives a machine whose speed drifts. Not a test: it has no verdict unless --at-least MODEL=RATIO is given.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# model -> (job to compile, settings, optimizer of the peer, steps of ours, steps of the peer)
MODELS = {
    "simplecnn": ("digits_simplecnn.yaml", [], "adam", 200, 200),
    "vgg16_cifar10": ("synthetic_vgg16_cifar10.yaml", [], "sgd", 5, 5),
}


def run(command, environment):
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return json.loads(result.stdout)["samples_per_second"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--python", default="/usr/bin/python3", help="an interpreter that has torch")
    parser.add_argument("--at-least", action="append", default=[], metavar="MODEL=RATIO")
    options = parser.parse_args()
    bars = dict(bar.split("=") for bar in options.at_least)

    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    if subprocess.run([options.python, "-c", "import torch"], capture_output=True).returncode != 0:
        print("skipped: no PyTorch (install python3-torch)")
        return 0
    status = 0
    print(f"{'model':<16} {'threads':>7} {'dtnn':>9} {'PyTorch':>9} {'ratio':>6}   ratios by round")
    for model in options.models.split(","):
        job, settings, optimizer, our_steps, peer_steps = MODELS[model]
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.json")
            subprocess.run([os.path.join(options.bin, "dtnnc"), "compile", os.path.join(ROOT, "specs", "jobs", job),
                            "-o", plan, "--threads", str(options.threads)] + [a for s in settings for a in ("--set", s)],
                           check=True, stdout=subprocess.DEVNULL)
            ours, peers = [], []
            for _ in range(options.rounds):
                ours.append(run([os.path.join(options.bin, "dtnn-run"), "bench", plan, "--steps", str(our_steps),
                                 "--format", "json"], environment))
                peers.append(run([options.python, os.path.join(ROOT, "tests", "benchmarks", "torch_peer.py"), model,
                                  "--optimizer", optimizer, "--threads", str(options.threads),
                                  "--steps", str(peer_steps)], environment))
        ratios = [a / b for a, b in zip(ours, peers)]
        ratio = statistics.median(ratios)
        print(f"{model:<16} {options.threads:>7} {statistics.median(ours):>9.1f} {statistics.median(peers):>9.1f} "
              f"{ratio:>6.2f}   {' '.join(f'{r:.2f}' for r in ratios)}")
        if model in bars and ratio < float(bars[model]):
            print(f"{model}: {ratio:.2f} is below {bars[model]}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
