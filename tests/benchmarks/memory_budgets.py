#!/usr/bin/env python3
"""What smaller memory budgets cost: plans of a model from all of its memory down to the least that is feasible.

    tests/benchmarks/memory_budgets.py [--models resnet50,densenet_cifar10] [--steps 4] [--budgets 10] [--rounds 3] [--bin DIR]

For each budget: what the plan needs, the FLOPs that backward adds, the median of the times of a step over that of the plan
without a budget (by turns), and whether a training of two steps has the same loss to the bit. Exits with 1 where a plan
needs more than its budget or a loss differs.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = {"resnet50": 16, "densenet_cifar10": 64, "vgg16_cifar10": 64, "mobilenet_v2": 16}  # with their batches
MIB = 1 << 20


class Tools:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = dict(os.environ, DTNN_SPEC_PATH=os.path.join(ROOT, "specs"))

    def run(self, program, *arguments, codes=(0,)):
        result = subprocess.run([os.path.join(self.options.bin, program), *arguments], env=self.environment, text=True,
                                capture_output=True, cwd=self.folder)
        if result.returncode not in codes:
            sys.exit(f"{program} {' '.join(arguments)} ended with {result.returncode}:\n{result.stderr}")
        return result

    def compile(self, model, plan, budget=None):
        """None where the budget does not suffice; then the least that does, else what the plan needs and adds."""
        batch = MODELS[model]
        arguments = ["compile", model, "-o", plan, "--threads", str(self.options.threads),
                     "--set", f"training.batch_size={batch}", "--set", f"dataset.train_samples={2 * batch}",
                     "--set", f"dataset.test_samples={batch}", "--set", "training.optimizer={sgd: {learning_rate: 0.01, momentum: 0.9}}"]
        if budget:
            arguments += ["--memory-budget", f"{budget}B"]
        result = self.run("dtnnc", *arguments, codes=(0, 4))
        if result.returncode == 4:
            return None, bytes_of(re.search(r"raise memory_budget to ([\d.,]+ ?\w+)", result.stderr).group(1))
        need = self.memory(plan)["peak"]
        added = re.search(r"\+([\d.]+) % FLOPs", result.stdout + result.stderr)
        return need, float(added.group(1)) if added else 0.0

    def memory(self, plan):
        return json.loads(self.run("dtnnc", "summary", plan, "--format", "json").stdout)["memory"]

    def milliseconds(self, plan):
        out = self.run("dtnn-run", "bench", plan, "--steps", str(self.options.steps), "--format", "json").stdout
        return json.loads(out)["step_milliseconds"]["median"]

    def loss(self, plan):
        self.run("dtnn-run", plan, "--output", plan + ".run", "--force")
        with open(os.path.join(self.folder, plan + ".run", "history.jsonl"), encoding="utf-8") as file:
            return [line["train"]["loss"] for line in map(json.loads, file) if "train" in line]


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.,]+) ?(\w+)", text).groups()
    # Printed sizes are rounded: one more of the last digit fits for certain.
    return int((float(number.replace(",", "")) + 0.1) * {"B": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}[unit])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--budgets", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    failed = False
    print(f"{'model':18} {'budget, MiB':>11} {'arena':>8} {'of all':>7} {'FLOPs':>8} {'time':>6}  loss")
    for model in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            tools = Tools(options, folder)
            everything, _ = tools.compile(model, "all.json")
            arena = tools.memory("all.json")["arena"]
            _, least = tools.compile(model, "none.json", budget=MIB)
            losses = tools.loss("all.json")
            for step in range(options.budgets + 1):
                budget = everything - (everything - least) * step // options.budgets
                need, added = tools.compile(model, "plan.json", budget)
                if need is None:
                    sys.exit(f"{model}: {budget} bytes were said to suffice, and do not")
                own = tools.memory("plan.json")["arena"]
                ratios = [tools.milliseconds("plan.json") / tools.milliseconds("all.json") for _ in range(options.rounds)]
                same = tools.loss("plan.json") == losses
                failed |= not same or need > budget
                print(f"{model:18} {budget / MIB:11.0f} {own / MIB:8.0f} {100 * own / arena:6.0f}% {added:+7.1f}% "
                      f"{statistics.median(ratios):6.2f}  {'the same' if same else 'DIFFERS'}{'' if need <= budget else ', MORE THAN THE BUDGET'}",
                      flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
