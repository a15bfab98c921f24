#!/usr/bin/env python3
"""How long `dtnnc compile` takes, and how it grows with the size of the network.

    tests/benchmarks/compile_bench.py [--dtnnc PATH] [--sizes 1000,2000,...] [--rounds N] [--tails] [--format table|json]

Three made-up families are compiled for training, as whole commands (spec read, expanded, checked; every program; the plan audited
and written): `chain`, convolutions and relus; `residual`, blocks of two conv/bn/relu around a sum, and `dense`, stages of 16 layers that concatenate growing widths.
Then the networks of specs/models that are named in ZOO. Each row is the fastest of the rounds: seconds, layers per second, the
exponent of growth since the row before (1 is linear), peak memory, the size of the plan. With --tails no split of the data is a
multiple of the batch, so that there are five programs instead of three. One thread; the plan is written to the temporary folder.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZOO = ["resnet18", "resnet1202_cifar10", "densenet201"]

RESIDUAL = """kind: model
name: residual
input: {{shape: [3, 8, 8]}}
defaults: {{conv2d: {{bias: false, padding: same, filters: 8, kernel: 3}}}}
layers:
  - conv2d
  - batch_norm
  - relu
  - repeat:
      times: {times}
      layers:
        - add:
            - [conv2d, batch_norm, relu, conv2d, batch_norm]
            - []
        - relu
  - flatten
  - dense: {{units: 10}}
  - softmax
"""

CHAIN = """kind: model
name: chain
input: {{shape: [3, 8, 8]}}
defaults: {{conv2d: {{padding: same, filters: 8, kernel: 3}}}}
layers:
  - repeat: {{times: {times}, layers: [conv2d, relu]}}
  - flatten
  - dense: {{units: 10}}
  - softmax
"""

DENSE = """kind: model
name: dense
input: {{shape: [3, 8, 8]}}
defaults: {{conv2d: {{bias: false, padding: same}}}}
layers:
  - repeat:
      times: {times}
      layers:
        - conv2d: {{filters: 8, kernel: 1}}
        - repeat:
            times: 16
            layers:
              - concat:
                  - []
                  - [batch_norm, relu, conv2d: {{filters: 16, kernel: 1}}, batch_norm, relu, conv2d: {{filters: 4, kernel: 3}}]
        - batch_norm
        - relu
  - flatten
  - dense: {{units: 10}}
  - softmax
"""

#         text, layers of one repetition, layers besides
FAMILIES = {"chain": (CHAIN, 2, 3), "residual": (RESIDUAL, 7, 6), "dense": (DENSE, 115, 3)}


def job(model, shape, classes, tails):
    samples = (1000, 200) if tails else (6400, 640)
    return f"""kind: job
name: bench
model: {model}
dataset: {{type: synthetic, shape: {shape}, classes: {classes}, train_samples: {samples[0]}, test_samples: {samples[1]}}}
training:
  optimizer: {{sgd: {{learning_rate: 0.1, momentum: 0.9}}}}
  loss: categorical_cross_entropy
  metrics: [categorical_accuracy]
  batch_size: 64
"""


def measure(dtnnc, spec, extra, rounds, folder):
    """The fastest of the rounds: seconds, peak KiB of the process, layers and bytes of the plan."""
    plan = folder / "bench.plan.json"
    best = None
    for _ in range(rounds):
        start = time.perf_counter()
        process = subprocess.Popen([dtnnc, "compile", "--threads", "1", *extra, spec, "-o", plan],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{spec}: {error}")
        if best is None or seconds < best["seconds"]:
            best = {"seconds": seconds, "peak_mib": usage.ru_maxrss / 1024}
    size = plan.stat().st_size
    layers = 0
    with open(plan, encoding="utf-8") as text:
        inside = False
        for line in text:
            if line.startswith(' "layers": ['):
                inside = True
            elif inside and not line.startswith("  {"):
                break
            elif inside:
                layers += 1
    plan.unlink()
    return {**best, "layers": layers, "plan_mib": size / 2**20}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--dtnnc", default=str(ROOT / "build/release/bin/dtnnc"))
    arguments.add_argument("--sizes", default="1000,2000,5000,10000,20000,50000,100000")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--tails", action="store_true")
    arguments.add_argument("--only", help="a family or a model of specs/models")
    arguments.add_argument("--format", choices=["table", "json"], default="table")
    options = arguments.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]

    rows = []
    head = f"{'network':<20} {'layers':>7} {'seconds':>8} {'layers/s':>9} {'growth':>7} {'peak MiB':>9} {'plan MiB':>9}"
    if options.format == "table":
        print(head)

    def show(row):
        rows.append(row)
        if options.format == "table":
            growth = f"{row['growth']:.2f}" if row["growth"] is not None else "-"
            print(f"{row['network']:<20} {row['layers']:>7} {row['seconds']:>8.3f} {row['layers'] / row['seconds']:>9.0f} "
                  f"{growth:>7} {row['peak_mib']:>9.0f} {row['plan_mib']:>9.1f}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        spec = folder / "job.yaml"
        for family, (text, each, besides) in FAMILIES.items():
            if options.only not in (None, family):
                continue
            before = None
            for size in sizes:
                (folder / "net.yaml").write_text(text.format(times=max(1, round((size - besides) / each))))
                spec.write_text(job("net.yaml", "[3, 8, 8]", 10, options.tails))
                rounds = options.rounds if size <= 20000 else 1
                row = {"network": family, **measure(options.dtnnc, spec, [], rounds, folder), "growth": None}
                if before:
                    row["growth"] = math.log(row["seconds"] / before["seconds"]) / math.log(row["layers"] / before["layers"])
                before = row
                show(row)
        for model in ZOO:
            path = next((ROOT / "specs/models").rglob(f"{model}.yaml"), None)
            if options.only not in (None, model) or path is None:
                continue
            imagenet = not model.endswith("_cifar10")
            shape, classes = ("[3, 224, 224]", 1000) if imagenet else ("[3, 32, 32]", 10)
            spec.write_text(job(path, shape, classes, options.tails))
            show({"network": model, **measure(options.dtnnc, spec, [], options.rounds, folder), "growth": None})
    if options.format == "json":
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
