#!/usr/bin/env python3
"""Compares training speed with PyTorch, measured alternately in one run.

    tests/benchmarks/compare_pytorch.py [--models simplecnn,resnet50] [--threads 1] [--rounds 5] [--isa avx2] [--json FILE]

Each round runs dtnn-run bench and then PyTorch on the same model, batch and optimizer, in PyTorch's best form (torch_peer.py, and the
allocator's settings below). Printed are the medians and, of the rounds' ratios, the median, which survives a machine whose speed
drifts, with the least and the largest. Not a test: it has no verdict unless --at-least MODEL=RATIO is given.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
# model -> (batch, steps of a round)
MODELS = {
    "simplecnn": (64, 200),
    "simplemlp": (64, 200),
    "mobilenetv1_cifar10": (64, 10),
    "resnet20_cifar10": (64, 10),
    "alexnet_cifar10": (64, 10),
    "vgg16_cifar10": (64, 5),
    "densenet_cifar10": (64, 4),
    "googlenet_cifar10": (32, 4),
    "mobilenet_v2": (16, 4),
    "efficientnet_b0": (8, 4),
    "resnet18": (16, 4),
    "resnet50": (16, 3),
}
TUNABLES = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=34359738368:"
            "glibc.malloc.top_pad=67108864")


def run(command, environment):
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def rate(command, environment):
    return json.loads(run(command, environment))["samples_per_second"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--isa", choices=["avx2", "avx512"], help="for both sides; the machine's best when not given")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
    parser.add_argument("--compile", action="store_true", help="PyTorch by torch.compile")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--at-least", action="append", default=[], metavar="MODEL=RATIO")
    options = parser.parse_args()
    bars = dict(bar.split("=") for bar in options.at_least)

    ours_environment = dict(os.environ, DTNN_SPEC_PATH=os.path.join(ROOT, "specs"))
    peer_environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), GLIBC_TUNABLES=TUNABLES)
    if options.isa == "avx2":
        peer_environment.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2")
    if subprocess.run([options.python, "-c", "import torch"], capture_output=True).returncode != 0:
        print("skipped: no PyTorch (python3-torch, or an environment of its own by --python)")
        return 0
    status = 0
    figures = []
    print(f"{'model':<20} {'batch':>5} {'threads':>7} {'dtnn':>9} {'PyTorch':>9} {'ratio':>6}   rounds")
    for model in options.models.split(","):
        batch, steps = MODELS[model]
        with tempfile.TemporaryDirectory() as folder:
            plan, summary = os.path.join(folder, "plan.json"), os.path.join(folder, "summary.json")
            dtnnc = os.path.join(options.bin, "dtnnc")
            settings = ["--set", f"training.batch_size={batch}", "--set", f"dataset.train_samples={batch * 8}",
                        "--set", "training.optimizer={sgd: {learning_rate: 0.01, momentum: 0.9}}"]
            run([dtnnc, "compile", model, "-o", plan, "--threads", str(options.threads)] + settings +
                (["--isa", options.isa] if options.isa else []), ours_environment)
            with open(summary, "w", encoding="utf-8") as file:
                file.write(run([dtnnc, "summary", model, "--format", "json"], ours_environment))
            with open(plan, encoding="utf-8") as file:
                shape = json.load(file)["dataset"]["shape"]
            peer = [options.python, os.path.join(HERE, "torch_peer.py"), summary, "--shape", ",".join(map(str, shape)), "--batch",
                    str(batch), "--steps", str(steps), "--threads", str(options.threads)] + (["--compile"] if options.compile else [])
            ours, peers = [], []
            for _ in range(options.rounds):
                ours.append(rate([os.path.join(options.bin, "dtnn-run"), "bench", plan, "--steps", str(steps), "--format", "json"],
                                 ours_environment))
                peers.append(rate(peer, peer_environment))
        ratios = [a / b for a, b in zip(ours, peers)]
        ratio = statistics.median(ratios)
        figures.append({"model": model, "batch": batch, "threads": options.threads, "ours": ours, "pytorch": peers, "ratio": ratio})
        print(f"{model:<20} {batch:>5} {options.threads:>7} {statistics.median(ours):9.1f} {statistics.median(peers):9.1f} {ratio:6.2f}   "
              f"{min(ratios):.2f} to {max(ratios):.2f}", flush=True)
        if model in bars and ratio < float(bars[model]):
            print(f"{model}: {ratio:.2f} is below {bars[model]}")
            status = 1
    mean = math.exp(statistics.fmean(math.log(one["ratio"]) for one in figures))
    print(f"{'geometric mean':<53} {mean:6.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"models": figures, "geometric_mean": mean}, file, indent=1)
    return status


if __name__ == "__main__":
    sys.exit(main())
