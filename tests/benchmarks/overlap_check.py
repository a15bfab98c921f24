#!/usr/bin/env python3
"""What is hidden of the exchanges of gradients: steps of two ranks on a network that takes as long for them as backward
does, overlapped and blocking, beside steps without exchanges; and what `dtnnc forecast` says of the same.

    tests/benchmarks/overlap_check.py [--rounds 3] [--steps 12] [--batch 64] [--only resnet20] [--share 1.0]

Backward is measured first; then the plans are compiled for a machine whose network has that bandwidth, so that the
compiler chooses the buckets that it would choose there. Ends with 1 where overlapped steps take more than 1.15 times the
steps without exchanges, or blocking ones less than 1.6 times. Needs two quiet cores and the target overlap_bench.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("DTNN_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin"))
MODELS = ("resnet20_cifar10", "vgg16_cifar10")
LATENCY = 20e-6  # of Ethernet


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


class Pair:
    """The overlapped and the blocking plan of a model for a machine."""

    def __init__(self, folder, model, batch, machine):
        self.plans = []
        self.machine = machine
        for reduction in ("overlapped", "blocking"):
            spec = os.path.join(folder, f"{model}-{reduction}.yaml")
            with open(spec, "w", encoding="utf-8") as file:
                file.write(f"kind: job\nmodel: {model}\ndataset: {{extends: synthetic_cifar10}}\nthreads: 1\n"
                           f"machine: {json.dumps(machine)}\nparallel: {{data: 2, reduction: {reduction}}}\n"
                           f"training: {{extends: sgd_momentum, epochs: 1, batch_size: {batch}}}\n")
            plan = spec.replace(".yaml", ".plan.json")
            run(os.path.join(BIN, "dtnnc"), "compile", spec, "-o", plan)
            self.plans.append(plan)
        with open(self.plans[0], encoding="utf-8") as file:
            plan = json.load(file)
        program = next(program for program in plan["programs"] if program["name"] == "train")
        self.bytes = [collective["bytes"] for collective in program["collectives"]]

    def measure(self, latency, bandwidth, rounds, steps):
        text = run(os.path.join(BIN, "overlap_bench"), *self.plans, repr(latency), repr(bandwidth), str(rounds), str(steps))
        return json.loads(text)

    def forecast(self, machine):
        rows = [json.loads(run(os.path.join(BIN, "dtnnc"), "forecast", plan, "--machine", machine, "--ranks", "2",
                               "--ranks-per-node", "1", "--format", "json"))["rows"][0] for plan in self.plans]
        return [row["step_seconds"] / row["compute_seconds"] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--only", default="", help="models whose names have this")
    parser.add_argument("--share", type=float, default=1.0, help="of backward that the exchanges take")
    arguments = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        calibration = os.path.join(folder, "machine.yaml")
        run(os.path.join(BIN, "dtnnc"), "calibrate", "-o", calibration)
        import yaml
        with open(calibration, encoding="utf-8") as file:
            rates = {key: value for key, value in yaml.safe_load(file).items() if key not in ("local", "network")}
        print(f"{'model':<20}{'MiB':>6}{'buckets':>8}{'MB/s':>8}{'alone ms':>10}{'backward':>9}{'sums':>7}{'overlapped':>16}{'forecast':>9}"
              f"{'blocking':>16}{'forecast':>9}")
        for model in MODELS:
            if arguments.only not in model:
                continue
            def machine_of(bandwidth):
                # A rank on each of two nodes, between which the network is, with a core for its data worker.
                return dict(rates, kind="machine", name="shaped", nodes=2, cores=2,
                            network={"latency": f"{LATENCY * 1e6}us", "bandwidth": f"{bandwidth / 1e6:.3f}MB/s"})
            first = Pair(folder, model, arguments.batch, machine_of(1e9))
            quick = first.measure(1e-9, 1e12, 2, arguments.steps)
            backward = quick["backward"]
            # An exchange is the network's time and the sums, which take theirs on the fastest network too.
            sums = min(max(0.0, quick["blocking"] - quick["compute"]), 0.5 * backward)
            total = sum(first.bytes)
            for _ in range(2):  # the number of buckets depends on the bandwidth, and that on the latencies
                latencies = 2 * LATENCY * len(first.bytes)
                bandwidth = total / (arguments.share * backward - sums - latencies)
                machine = machine_of(bandwidth)
                first = Pair(folder, model, arguments.batch, machine)
                total = sum(first.bytes)
            shaped = os.path.join(folder, "shaped.yaml")
            with open(shaped, "w", encoding="utf-8") as file:
                yaml.safe_dump(machine, file)
            measured = first.measure(LATENCY, bandwidth, arguments.rounds, arguments.steps)
            foreseen = first.forecast(shaped)
            ratios = [measured[name] / measured["compute"] for name in ("overlapped", "blocking")]
            print(f"{model:<20}{total / 2**20:>6.1f}{len(first.bytes):>8}{bandwidth / 1e6:>8.1f}"
                  f"{1e3 * measured['compute']:>10.2f}{1e3 * measured['backward']:>9.2f}{1e3 * sums:>7.2f}"
                  f"{1e3 * measured['overlapped']:>9.2f} {ratios[0]:>5.2f}x{foreseen[0]:>8.2f}x"
                  f"{1e3 * measured['blocking']:>9.2f} {ratios[1]:>5.2f}x{foreseen[1]:>8.2f}x", flush=True)
            missed = missed or ratios[0] > 1.15 or ratios[1] < 1.6
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
