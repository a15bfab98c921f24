#!/usr/bin/env python3
"""Compares convolutions of known networks with oneDNN's primitives (through PyTorch), shape by shape, measured alternately.

    tests/benchmarks/compare_convolutions.py [--models resnet50,vgg16_cifar10] [--threads 1] [--rounds 2] [--isa avx2] [--json FILE]

Each round times every distinct convolution of a model, forward and both gradients, by oneDNN and then by the kernel that our
catalogue chooses (conv_bench), the least time of several runs each. Printed are GFLOP/s of the formula, the share of the
arithmetic that the processor could do where --peak GFLOP/s is given, and the ratio of times (theirs over ours); summed over the
network, each as often as it has it. Needs conv_bench (cmake --build --preset release --target conv_bench). Not a test.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from compare_pytorch import HERE, ROOT, TUNABLES, Model, environments_of, has, run

FIELDS = ("channels", "size", "filters", "kernel", "stride", "padding", "groups", "batch", "bias", "first")
DIRECTIONS = ("conv2d", "conv2d_backward_weights", "conv2d_backward_data")


def line_of(one):
    return " ".join(str(int(one[field])) for field in FIELDS)


def name_of(one):
    name = f"{one['channels']}->{one['filters']} {one['size']}"
    name += f"/{one['stride']}" if one["stride"] > 1 else ""
    name += f" {one['kernel']}x{one['kernel']}"
    return name + (f" groups {one['groups']}" if one["groups"] > 1 else "")


def work_of(one):
    """FLOPs of a direction."""
    out = (one["size"] + 2 * one["padding"] - one["kernel"]) // one["stride"] + 1
    return 2 * one["batch"] * out * out * one["filters"] * one["channels"] // one["groups"] * one["kernel"] ** 2


def ours_of(found, options, environment):
    """(kernel, seconds) by direction for every convolution."""
    process = subprocess.run([os.path.join(options.bin, "conv_bench"), "-", str(options.threads)], text=True, capture_output=True,
                             env=environment, input="".join(line_of(one) + "\n" for one in found))
    if process.returncode != 0:
        sys.exit(process.stderr)
    results = []
    for line in process.stdout.splitlines():
        operator, kernel, seconds = line.split()
        if operator == DIRECTIONS[0]:
            results.append({})
        results[-1][operator] = (kernel, float(seconds))
    return results


def measure(name, options):
    """For each convolution and direction: ours, theirs, our kernel; the least of all rounds."""
    environments = environments_of(options)
    # Large pages for both, as dtnn-run asks for them, too.
    ours_environment = dict(environments[0], GLIBC_TUNABLES=TUNABLES, **({"CONV_BENCH_ISA": options.isa} if options.isa else {}))
    with tempfile.TemporaryDirectory() as folder:
        model = Model(name, options, folder, environments)
        command = [options.python, os.path.join(HERE, "torch_convolutions.py")] + model.network
        rows = {}
        for _ in range(options.rounds):
            found = json.loads(run(command, environments[1]))
            for index, (one, ours) in enumerate(zip(found, ours_of(found, options, ours_environment))):
                for direction, theirs in one["seconds"].items():
                    kernel, seconds = ours[direction]
                    row = rows.setdefault((index, direction), {"shape": name_of(one), "direction": direction, "count": one["count"],
                                                               "flops": work_of(one), "kernel": kernel,
                                                               "ours": seconds, "theirs": theirs})
                    row["ours"], row["theirs"] = min(row["ours"], seconds), min(row["theirs"], theirs)
    return [rows[key] for key in sorted(rows)]


def show(name, rows, peak):
    print(f"\n{name:<28} {'direction':<24} {'kernel':<14} {'dtnn':>7} {'oneDNN':>7} {'ratio':>6}" + ("  share of peak" if peak else ""))
    for row in rows:
        rate, peer = (row["flops"] / row[side] * 1e-9 for side in ("ours", "theirs"))
        share = f"  {rate / peak:7.0%} {peer / peak:5.0%}" if peak else ""
        print(f"{row['shape']:<28} {row['direction']:<24} {row['kernel']:<14} {rate:7.1f} {peer:7.1f} {row['theirs'] / row['ours']:6.2f}{share}")
    for direction in DIRECTIONS + ("all",):
        chosen = [row for row in rows if direction in (row["direction"], "all")]
        ours, theirs = (sum(row[side] * row["count"] for row in chosen) for side in ("ours", "theirs"))
        print(f"{'summed':<28} {direction:<24} {'':<14} {1e3 * ours:5.1f} ms {1e3 * theirs:4.1f} ms {theirs / ours:5.2f}")
    least = min(rows, key=lambda row: row["theirs"] / row["ours"])
    print(f"least: {least['shape']} {least['direction']} {least['theirs'] / least['ours']:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50,densenet_cifar10,mobilenet_v2,vgg16_cifar10")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--batch", type=int, help="samples of a batch; that of compare_pytorch.py when not given")
    parser.add_argument("--isa", choices=["avx2", "avx512"], help="for both sides; the machine's best when not given")
    parser.add_argument("--peak", type=float, default=0, help="GFLOP/s of all threads, as `dtnn-run bench --per-step` measures it")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    options.inference = options.compile = False
    if not has(options.python, "torch"):
        print("skipped: no PyTorch (python3-torch, or an environment of its own by --python)")
        return 0
    figures = {}
    for name in options.models.split(","):
        figures[name] = measure(name, options)
        show(name, figures[name], options.peak)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
