#!/usr/bin/env python3
"""Weak scaling on one machine: as many ranks as there are cores, one thread each, beside as many single ranks that know nothing
of each other, in turn; prints samples per second of both and their ratio.

    tests/benchmarks/weak_scaling.py [--ranks 2] [--rounds 5] [--steps 40] [--wire bf16] [MODEL ...]

The single ranks run at the same time, so that both sides share the memory and the power of all cores, and each is bound to a
core of its own, as the ranks are. The ratio is that of the medians of all rounds.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

BIN = os.environ.get("DTNN_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin"))
DTNN_RUN = os.path.join(BIN, "dtnn-run")


def compiled(folder, model, wire):
    spec, plan = os.path.join(folder, f"{model}.yaml"), os.path.join(folder, f"{model}.plan.json")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"kind: job\nmodel: {model}\ndataset: {{extends: synthetic_cifar10}}\n"
                   "training: {extends: sgd_momentum, epochs: 1, batch_size: 64}\n"
                   f"parallel: {{data: auto, wire: {wire}}}\n")
    subprocess.run([os.path.join(BIN, "dtnnc"), "compile", spec, "-o", plan, "--threads", "1"], check=True,
                   stdout=subprocess.DEVNULL)
    return plan


def rate(texts):
    return sum(json.loads(text)["samples_per_second"]["median"] for text in texts)


def bench(plan, steps):
    return [DTNN_RUN, "bench", plan, "--format", "json", "--synthetic-data", "--steps", str(steps)]


def singles(plan, steps, cores):
    jobs = [subprocess.Popen(bench(plan, steps), stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda core=core: os.sched_setaffinity(0, {core})) for core in cores]
    return rate([job.communicate()[0] for job in jobs])


def together(plan, steps, ranks):
    words = ["mpiexec", "-n", str(ranks), "-bind-to", "core", *bench(plan, steps)]
    return rate([subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["resnet20_cifar10", "vgg16_cifar10"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--wire", default="full")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if shutil.which("mpiexec") is None or len(cores) < arguments.ranks:
        print(f"skipped: no mpiexec, or fewer than {arguments.ranks} cores")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.models:
            plan = compiled(folder, model, arguments.wire)
            alone, shared = [], []
            for _ in range(arguments.rounds):
                alone.append(singles(plan, arguments.steps, cores[:arguments.ranks]))
                shared.append(together(plan, arguments.steps, arguments.ranks))
            ratio = statistics.median(shared) / statistics.median(alone)
            spread = sorted(a / b for a, b in zip(shared, alone))
            print(f"{model}: {arguments.ranks} single ranks {statistics.median(alone):.1f} samples/s, "
                  f"{arguments.ranks} ranks {statistics.median(shared):.1f}: {ratio:.3f} "
                  f"(rounds {spread[0]:.3f} to {spread[-1]:.3f})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
