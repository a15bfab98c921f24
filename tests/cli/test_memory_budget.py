#!/usr/bin/env python3
"""Memory budgets: plans that recompute in backward obey them, and train to the same bits."""

import hashlib
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest, why_no_ranks

MISSING = why_no_ranks()

PLAIN = """
    - conv2d: {filters: 8, kernel: 3, padding: same}
    - batch_norm
    - relu
    - conv2d: {filters: 16, kernel: 3, padding: same}
    - silu
    - dropout: {rate: 0.3}
    - conv2d: {filters: 16, kernel: 3, padding: same, bias: false}
    - batch_norm
    - hard_swish
    - max_pool2d: {kernel: 2}
    - conv2d: {filters: 8, kernel: 3, padding: same}
    - relu
    - flatten
    - dense: {units: 10}
    - softmax
"""

RESIDUAL = """
    - conv2d: {filters: 8, kernel: 3, padding: same, bias: false}
    - batch_norm
    - relu
""" + """
    - add:
        - [conv2d: {filters: 8, kernel: 3, padding: same, bias: false}, batch_norm, relu,
           conv2d: {filters: 8, kernel: 3, padding: same, bias: false}, batch_norm]
        - []
    - relu
""" * 3 + """
    - global_avg_pool2d
    - flatten
    - dense: {units: 10}
    - softmax
"""

DENSE = """
    - conv2d: {filters: 8, kernel: 3, padding: same, bias: false}
""" + """
    - concat:
        - [batch_norm, relu, conv2d: {filters: 16, kernel: 1, bias: false}, batch_norm, relu,
           conv2d: {filters: 4, kernel: 3, padding: same, bias: false}]
        - []
""" * 4 + """
    - avg_pool2d: {kernel: 2}
    - flatten
    - dense: {units: 10}
    - softmax
"""

BRANCHES = """
    - conv2d: {filters: 8, kernel: 3, padding: same}
    - group_norm: {groups: 4}
    - gelu
    - concat:
        - [conv2d: {filters: 8, kernel: 1}, relu, conv2d: {filters: 8, kernel: 3, padding: same}, relu]
        - [max_pool2d: {kernel: 3, stride: 1, padding: 1}, conv2d: {filters: 4, kernel: 1}, tanh]
        - [avg_pool2d: {kernel: 3, stride: 1, padding: 1}, dropout: {rate: 0.2}]
    - depthwise_conv2d: {kernel: 3, padding: same}
    - sigmoid
    - conv2d: {filters: 16, kernel: 3, stride: 2, padding: 1}
    - local_response_norm
    - relu6
    - flatten
    - dense: {units: 10}
    - softmax
"""

JOB = """kind: job
name: budget
model:
  input: {shape: [1, 28, 28]}
  layers:LAYERS
dataset: {type: digits, train_samples: 200, test_samples: 70}
training: {optimizer: adam, batch_size: 64, epochs: 1, metrics: [categorical_accuracy]}
"""


class MemoryBudget(CommandTest):
    def planned(self, *arguments):
        plan = self.compile(*arguments, spec="job.yaml")
        with open(plan, encoding="utf-8") as file:
            content = json.load(file)
        memory = content["memory"]
        need = memory["arena"] + memory["staging"] + memory["samples"]
        train = next(program for program in content["programs"] if program["name"] == "train")
        again = [step for step in train["steps"] if step["phase"] == "recompute"]
        return plan, need, again

    def trained(self, plan, *arguments):
        self.expect(self.dtnn_run(plan, "--output", "run", "--force", *arguments), 0)
        kept = [{key: value for key, value in event.items() if "second" not in key and "time" not in key}
                for event in self.history("run") if event["event"] in ("epoch", "evaluate")]
        with open(self.path("run/weights.safetensors"), "rb") as file:
            content = file.read()
        header = int.from_bytes(content[:8], "little")  # which names the plan
        return kept, hashlib.sha256(content[8 + header:]).hexdigest()

    def check_network(self, layers):
        self.write("job.yaml", JOB.replace("LAYERS", layers.rstrip()))
        plan, most, again = self.planned("--threads", "1")
        self.assertEqual(again, [])
        wanted = self.trained(plan)
        refused = self.expect(self.dtnnc("compile", "job.yaml", "--threads", "1", "--memory-budget", "4KiB"), 4,
                              "even recomputing", "% FLOPs) in backward, the plan needs", "help:")
        number, unit = re.search(r"raise memory_budget to ([\d.]+) (KiB|MiB)", refused.stderr).groups()
        least = int(float(number) * {"KiB": 1024, "MiB": 1024 * 1024}[unit])
        self.assertLess(least, 0.95 * most)
        flops = []
        for part in range(10):
            budget = most - (most - least) * part // 9
            plan, need, again = self.planned("--threads", "1", "--memory-budget", str(budget))
            self.assertLessEqual(need, budget)
            self.assertEqual(bool(again), part > 0)
            self.assertEqual(self.trained(plan), wanted, f"budget {budget}")
            flops.append(sum(step["flops"] for step in again))
        self.assertEqual(flops[0], 0)
        return plan

    def test_a_chain_of_convolutions(self):
        plan = self.check_network(PLAIN)
        self.expect(self.dtnnc("summary", plan), 0, "recomputed", "of forward once more in backward")

    def test_residual_blocks(self):
        self.check_network(RESIDUAL)

    def test_dense_blocks(self):
        self.check_network(DENSE)

    def test_branches(self):
        self.check_network(BRANCHES)

    @unittest.skipIf(MISSING, MISSING)
    def test_batch_norm_of_two_ranks(self):
        # The sums of all ranks are of distances from the running mean, which the step moves.
        self.write("job.yaml", JOB.replace("LAYERS", RESIDUAL.rstrip()) +
                   "parallel: {data: auto, batch_statistics: synchronised}\nthreads: 1\n")
        plan, most, _ = self.planned()
        wanted = self.trained(plan, "--ranks", "2")
        plan, need, again = self.planned("--memory-budget", str(int(most * 0.7)))
        self.assertLessEqual(need, 0.7 * most)
        self.assertIn("batch_norm_training", {step["op"] for step in again})
        self.assertEqual(self.trained(plan, "--ranks", "2"), wanted)

    def test_times_that_want_more_room_than_there_is_are_left_out(self):
        self.write("job.yaml", JOB.replace("LAYERS", PLAIN.rstrip()))
        common = ["--threads", "1"]
        self.expect(self.dtnnc("tune", "job.yaml", *common, "--tuning", "times.json", "--repeats", "1"), 0)
        history = json.loads(self.read("times.json"))
        for entry in history["entries"]:  # by which the kernels with the largest workspaces are the fastest
            for time in entry["times"]:
                seconds = 1e-6 if time["kernel"] in ("implicit_blis", "winograd_4x4") else 1e-3
                time.update(median=seconds, low=seconds, high=seconds)
        self.write("times.json", json.dumps(history))

        def least(*arguments):
            said = self.expect(self.dtnnc("compile", "job.yaml", *common, *arguments, "--memory-budget", "4KiB"), 4)
            number, unit = re.search(r"raise memory_budget to ([\d.]+) (KiB|MiB)", said.stderr).groups()
            return float(number) * {"KiB": 1024, "MiB": 1024 * 1024}[unit]

        plain = least("--no-tuning")
        self.assertLessEqual(least("--tuning", "times.json"), plain)
        for budget in (str(int(plain)), "4GiB"):
            _, need, _ = self.planned(*common, "--tuning", "times.json", "--memory-budget", budget)
        self.assertGreater(need, plain)

    def test_a_budget_that_is_empty(self):
        self.expect(self.dtnnc("compile", "tiny.yaml", "--memory-budget", ""), 2, "--memory-budget is empty", "help:")

    def test_nothing_is_recomputed_where_the_pass_is_disabled(self):
        self.write("job.yaml", JOB.replace("LAYERS", RESIDUAL.rstrip()))
        _, most, _ = self.planned()
        self.expect(self.dtnnc("compile", "job.yaml", "--memory-budget", str(int(most * 0.8)), "--disable", "recompute"), 4,
                    "the plan needs", "help: batch_size")


if __name__ == "__main__":
    unittest.main()
