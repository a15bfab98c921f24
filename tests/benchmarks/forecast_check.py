#!/usr/bin/env python3
"""Forecasts beside measurements: the seconds of a training step as `dtnnc forecast` foretells and `dtnn-run bench`
measures it, for combinations of model, batch, threads and ranks; prints a table and the mean absolute error.

    tests/benchmarks/forecast_check.py [--machine machine.yaml] [--rounds 3] [--seconds 4] [--only resnet20]

Without --machine the machine is calibrated first. Every round goes through all combinations, and the least time of all
rounds counts: other work on the machine makes steps longer, never shorter. Combinations of several ranks are started
with mpiexec; where there is none they are reported as left out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("DTNN_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin"))

CIFAR = "{extends: synthetic_cifar10}"
DIGITS = "{type: synthetic, shape: [1, 28, 28], classes: 10, train_samples: 6400, test_samples: 640}"

# model, dataset, batch, threads, ranks
COMBINATIONS = [
    ("simplecnn", DIGITS, 64, 1, 1),
    ("mnist_cnn", DIGITS, 64, 1, 1),
    ("simplemlp", DIGITS, 128, 1, 1),
    ("alexnet_cifar10", CIFAR, 64, 1, 1),
    ("vgg16_cifar10", CIFAR, 64, 1, 1),
    ("vgg16_cifar10", CIFAR, 32, 1, 1),
    ("resnet20_cifar10", CIFAR, 64, 1, 1),
    ("resnet20_cifar10", CIFAR, 128, 1, 1),
    ("mobilenetv1_cifar10", CIFAR, 64, 1, 1),
    ("densenet_cifar10", CIFAR, 32, 1, 1),
    ("vgg3dobn", CIFAR, 64, 1, 1),
    ("googlenet_cifar10", CIFAR, 16, 1, 1),
    ("vgg16_cifar10", CIFAR, 64, 2, 1),
    ("resnet20_cifar10", CIFAR, 64, 2, 1),
    ("alexnet_cifar10", CIFAR, 64, 2, 1),
    ("vgg16_cifar10", CIFAR, 64, 1, 2),
    ("resnet20_cifar10", CIFAR, 64, 1, 2),
    ("mnist_cnn", DIGITS, 64, 1, 2),
]


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


class Combination:
    def __init__(self, folder, index, model, dataset, batch, threads, ranks):
        self.words = (model, batch, threads, ranks)
        self.threads, self.ranks = threads, ranks
        self.plan = os.path.join(folder, f"{index}.plan.json")
        self.least = None
        self.samples = batch * ranks
        self.trouble = ""
        spec = os.path.join(folder, f"{index}.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(f"kind: job\nmodel: {model}\ndataset: {dataset}\n"
                       f"training: {{extends: sgd_momentum, epochs: 1, batch_size: {batch}}}\nparallel: {{data: auto}}\n")
        run(os.path.join(BIN, "dtnnc"), "compile", spec, "-o", self.plan, "--threads", str(threads))

    def forecast(self, machine):
        text = run(os.path.join(BIN, "dtnnc"), "forecast", self.plan, "--machine", machine, "--ranks", str(self.ranks),
                   "--format", "json")
        self.row = json.loads(text)["rows"][0]

    def measure(self, seconds):
        steps = max(5, min(400, int(seconds / self.row["step_seconds"])))
        words = [os.path.join(BIN, "dtnn-run"), "bench", self.plan, "--format", "json", "--synthetic-data", "--steps",
                 str(steps)]
        if self.ranks > 1:
            words = ["mpiexec", "-n", str(self.ranks)] + words
        try:
            text = run(*words)
            least = json.loads(text)["step_milliseconds"]["min"] * 1e-3
        except (RuntimeError, ValueError, KeyError) as error:
            self.trouble = str(error).splitlines()[-1]
            return
        self.least = least if self.least is None else min(self.least, least)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement")
    parser.add_argument("--only", default="", help="models whose names have this")
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        machine = arguments.machine
        if machine is None:
            machine = os.path.join(folder, "machine.yaml")
            run(os.path.join(BIN, "dtnnc"), "calibrate", "-o", machine)
        combinations = []
        for index, words in enumerate(COMBINATIONS):
            if arguments.only not in words[0]:
                continue
            if words[3] * words[4] > cores:
                print(f"left out, for want of cores: {words[0]} on {words[4]} ranks of {words[3]} threads")
            elif words[4] > 1 and shutil.which("mpiexec") is None:
                print(f"left out, for want of mpiexec: {words[0]} on {words[4]} ranks")
            else:
                combinations.append(Combination(folder, index, *words))
        for one in combinations:
            one.forecast(machine)
        for _ in range(arguments.rounds):
            for one in combinations:
                one.measure(arguments.seconds)
        print(f"{'model':<22}{'batch':>6}{'threads':>8}{'ranks':>6}{'forecast ms':>13}{'measured ms':>13}{'error':>9}")
        errors = []
        for one in combinations:
            model, batch, threads, ranks = one.words
            line = f"{model:<22}{batch:>6}{threads:>8}{ranks:>6}{1e3 * one.row['step_seconds']:>13.2f}"
            if one.least is None:
                print(f"{line}   not measured: {one.trouble}")
                continue
            error = one.row["step_seconds"] / one.least - 1
            errors.append(abs(error))
            print(f"{line}{1e3 * one.least:>13.2f}{100 * error:>+8.1f}%")
        if errors:
            print(f"mean absolute error {100 * sum(errors) / len(errors):.1f} % of {len(errors)} combinations, "
                  f"the greatest {100 * max(errors):.1f} %")
    return 0 if errors else 1


if __name__ == "__main__":
    sys.exit(main())
