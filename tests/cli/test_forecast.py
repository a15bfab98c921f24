#!/usr/bin/env python3
"""What a job takes before it starts: forecasts, their picture, calibration, dry runs."""

import json
import os
import sys
import time
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNN_RUN, TINY, CommandTest, run, why_no_ranks

MACHINE = """kind: machine
name: made_up
nodes: 4
cores: 2
memory: 1GiB
product_rate: 10Gflop/s
convolution_rate: 10Gflop/s
memory_bandwidth: 5GB/s
node_memory_bandwidth: 8GB/s
step_overhead: 2us
decode_rate: 100000samples/s
network: {latency: 20us, bandwidth: 1GB/s}
local: {latency: 1us, bandwidth: 4GB/s}
"""


class Foresight(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("tiny.yaml", TINY)
        self.write("shared.yaml", TINY + "parallel: {data: auto}\n")
        self.write("machine.yaml", MACHINE)

    def forecast(self, *words, code=0):
        return self.expect(self.dtnnc("forecast", *words), code)

    def rows(self, *words):
        return json.loads(self.forecast(*words, "--format", "json").stdout)["rows"]


class Forecast(Foresight):
    def test_a_row_for_every_number_of_ranks(self):
        plan = self.path("shared.json")
        self.expect(self.dtnnc("compile", "shared.yaml", "-o", plan, "--threads", "1"), 0)
        rows = self.rows(plan, "--machine", "machine.yaml", "--ranks", "1,2,4,...,64")
        self.assertEqual([row["ranks"] for row in rows], [1, 2, 4, 8, 16, 32, 64])
        with open(plan, encoding="utf-8") as file:
            memory = json.load(file)["memory"]
        for row in rows:
            parts = row["compute_seconds"] + row["exposed_seconds"] + row["input_seconds"]
            self.assertAlmostEqual(row["step_seconds"], parts, delta=1e-9)
            self.assertAlmostEqual(row["samples_per_second"], row["global_batch"] / row["step_seconds"], delta=1e-2)
            self.assertEqual(row["memory_bytes"], memory["arena"] + memory["staging"] + memory["samples"])
            self.assertEqual(row["nodes"], (row["ranks"] + 1) // 2)
            self.assertEqual(row["global_batch"], 64 * row["ranks"])
        self.assertEqual(rows[0]["exposed_seconds"], 0)
        self.assertEqual(rows[0]["sent_bytes"], 0)
        self.assertGreater(rows[1]["communication_seconds"], 0)
        sent = [row["sent_bytes"] for row in rows]
        self.assertEqual(sent, sorted(sent))

    def test_the_same_of_a_spec_and_as_a_table(self):
        process = self.forecast("shared.yaml", "--machine", "machine.yaml", "--ranks", "1,2")
        self.assertIn("tiny on made_up: weak scaling", process.stdout)
        self.assertIn("efficiency", process.stdout)
        self.assertEqual(len([line for line in process.stdout.splitlines() if "%" in line]), 2)

    def test_strong_scaling_divides_the_batch_and_ends_where_there_is_none_left(self):
        rows = self.rows("shared.yaml", "--machine", "machine.yaml", "--scaling", "strong", "--ranks", "1,4,64,65")
        self.assertEqual([row.get("batch") for row in rows], [64, 16, 1, None])
        self.assertIn("65 ranks would share", rows[3]["refused"])
        self.assertGreater(rows[0]["compute_seconds"], rows[1]["compute_seconds"])
        self.assertTrue(rows[1]["memory_is_bound"])

    def test_the_picture_is_well_formed_and_shows_every_row(self):
        self.forecast("shared.yaml", "--machine", "machine.yaml", "--ranks", "1,2,4,8", "--svg", "picture.svg")
        document = xml.dom.minidom.parse(self.path("picture.svg"))
        self.assertEqual(document.documentElement.tagName, "svg")
        self.assertEqual(len(document.getElementsByTagName("circle")), 4)
        # It is as wide as the window, has colours for a dark one, and nothing in it is wider than itself.
        self.assertRegex(document.documentElement.getAttribute("style"), "^width: 100%")
        self.assertIn("prefers-color-scheme: dark", document.getElementsByTagName("style")[0].firstChild.data)
        width = float(document.documentElement.getAttribute("width"))
        for node in document.getElementsByTagName("text"):
            left = {"start": 0, "middle": 0.5, "end": 1}[node.getAttribute("text-anchor")]
            room, x = 7 * len(node.firstChild.data), float(node.getAttribute("x"))
            self.assertGreaterEqual(x - left * room, 0, node.firstChild.data)
            self.assertLessEqual(x + (1 - left) * room, width, node.firstChild.data)
        # Each name in the legend stands behind its colour.
        colours = [node.getAttribute("fill") for node in document.getElementsByTagName("rect")
                   if node.getAttribute("width") == node.getAttribute("height")]
        self.assertEqual(len(set(colours)), 3)
        texts = [node.firstChild.data for node in document.getElementsByTagName("text")]
        for ranks in ("1", "2", "4", "8"):
            self.assertIn(ranks, texts)
        for bar in document.getElementsByTagName("rect"):
            self.assertGreater(float(bar.getAttribute("height")), 0)
            self.assertLessEqual(float(bar.getAttribute("y") or 0) + float(bar.getAttribute("height")), 620)

    def test_the_picture_says_by_what_it_may_be_wrong(self):
        def lines(machine):
            self.forecast("shared.yaml", "--machine", machine, "--ranks", "1,2,4", "--svg", "picture.svg")
            text = self.read("picture.svg")
            return text.count("<line"), "calibration error" in text, "not calibrated" in text
        self.write("unsure.yaml", "kind: machine\nextends: cluster_100g\ncompute_error: 0.2\n")
        unknown, unsure = lines("cluster_100g"), lines("unsure.yaml")
        self.assertEqual((unknown[1:], unsure[1:]), ((False, True), (True, False)))
        # Three strokes for each of three steps and for the legend, whatever the axes have.
        self.assertGreaterEqual(unsure[0], 3 * 4)

    def test_the_machine_of_the_job_is_taken_where_none_is_named(self):
        self.write("placed.yaml", TINY + "parallel: {data: auto}\nmachine: ./machine.yaml\n")
        rows = self.rows("placed.yaml")
        self.assertEqual([row["ranks"] for row in rows], [1, 2, 4] if rows[0]["threads"] == 2 else [1, 2, 4, 8])
        self.assertIn("the job names no machine", self.forecast("shared.yaml", code=2).stderr)

    def test_mistakes_are_told_with_the_remedy(self):
        cases = [
            (("shared.yaml", "--machine", "nowhere"), 2, "cannot read `nowhere`"),
            (("shared.yaml", "--machine", "tiny.yaml"), 3, "a machine is wanted"),
            (("shared.yaml", "--machine", "machine.yaml", "--ranks", "0"), 2, "no number from 1"),
            (("shared.yaml", "--machine", "machine.yaml", "--ranks", "4,2"), 2, "they must grow"),
            (("shared.yaml", "--machine", "machine.yaml", "--ranks", "1,...,8"), 2, "dots go on from two"),
            (("shared.yaml", "--machine", "machine.yaml", "--ranks", "1,2,..."), 2, "number to end with"),
            (("shared.yaml", "--machine", "machine.yaml", "--ranks", "two"), 2, "`two`"),
            (("tiny.yaml", "--machine", "machine.yaml", "--ranks", "1,2"), 5, "parallel: {data: auto}"),
            (("shared.yaml", "--machine", "machine.yaml", "--scaling", "strong", "--ranks", "65"), 5, "at most 64"),
        ]
        for words, code, text in cases:
            with self.subTest(words=words):
                self.assertIn(text, self.forecast(*words, code=code).stderr)
        self.write("unknown.yaml", "kind: machine\nname: unknown\ncores: 4\n")
        self.assertIn("dtnnc calibrate", self.forecast("shared.yaml", "--machine", "unknown.yaml", code=2).stderr)
        self.forecast("tiny.yaml", "--machine", "machine.yaml", "--ranks", "1")

    def test_rates_of_kernels_and_of_threads_count(self):
        before = self.rows("tiny.yaml", "--machine", "machine.yaml", "--threads", "1")[0]
        self.write("slow.yaml", "extends: ./machine.yaml\nkind: machine\nkernels: {first_convolutions: 1Gflop/s}\n")
        after = self.rows("tiny.yaml", "--machine", "slow.yaml", "--threads", "1")[0]
        self.assertGreater(after["compute_seconds"], 1.2 * before["compute_seconds"])
        two = self.rows("tiny.yaml", "--machine", "machine.yaml", "--threads", "2")[0]
        self.assertLess(two["compute_seconds"], before["compute_seconds"])
        self.write("wrong.yaml", MACHINE + "kernels: {first_convolution: 1Gflop/s}\n")
        process = self.forecast("tiny.yaml", "--machine", "wrong.yaml", code=3)
        self.assertIn("did you mean `first_convolutions`", process.stderr)

    def test_a_faster_network_hides_more(self):
        slow = self.rows("shared.yaml", "--machine", "machine.yaml", "--ranks", "8")
        self.write("machine.yaml", MACHINE.replace("latency: 20us, bandwidth: 1GB/s", "latency: 1us, bandwidth: 100GB/s"))
        fast = self.rows("shared.yaml", "--machine", "machine.yaml", "--ranks", "8")
        self.assertLess(fast[0]["step_seconds"], slow[0]["step_seconds"])
        self.assertGreater(fast[0]["efficiency"], slow[0]["efficiency"])


class Calibrate(Foresight):
    def test_a_machine_that_check_accepts_and_forecasts_take(self):
        self.expect(self.dtnnc("calibrate", "-o", "here.yaml", "--name", "here", "--seconds", "1", timeout=400), 0)
        self.expect(self.dtnnc("check", "here.yaml"), 0)
        text = self.read("here.yaml")
        self.assertRegex(text, r"# Measured 20\d\d-\d\d-\d\dT")
        for field in ("product_rate", "convolution_rate", "memory_bandwidth", "decode_rate", "row_convolutions", "updates"):
            self.assertRegex(text, rf"{field}: \d")
        rows = self.rows("tiny.yaml", "--machine", "here.yaml", "--ranks", "1")
        # Within a factor of ten even on a busy machine: 64 digits through a small network.
        self.assertGreater(rows[0]["step_seconds"], 2e-6)
        self.assertLess(rows[0]["step_seconds"], 0.1)


class DryRun(Foresight):
    def dry_run(self, plan, *words, code=0):
        return self.expect(run(DTNN_RUN, "--dry-run", plan, *words, cwd=self.folder), code)

    def compile_shared(self, *words):
        plan = self.path("shared.json")
        self.expect(self.dtnnc("compile", "shared.yaml", "-o", plan, *words), 0)
        return plan

    def test_every_sample_is_taken_once_on_any_number_of_ranks(self):
        plan = self.compile_shared()
        for ranks in (1, 2, 3, 5, 100, 4096):
            with self.subTest(ranks=ranks):
                result = json.loads(self.dry_run(plan, "--ranks", str(ranks), "--format", "json").stdout)
                self.assertEqual(result["samples"], 270)  # of 300, a tenth is kept for validation
                self.assertEqual(result["steps"], -(-5 // ranks))  # four batches of 64 and one of 14
                self.assertEqual(result["rank_steps"], ranks * result["steps"])
                self.assertEqual(result["findings"], [])
                self.assertGreater(result["exchanges"], 0)

    def test_accumulation_and_plans_for_one_rank(self):
        plan = self.compile_shared("--set", "training.accumulation=2")
        result = json.loads(self.dry_run(plan, "--ranks", "2", "--format", "json").stdout)
        self.assertEqual(result["steps"], 3)
        self.assertEqual(result["updates"], 2)
        alone = self.compile()
        self.assertIn("steps", self.dry_run(alone).stdout)
        self.assertIn("parallel: {data: auto}", self.dry_run(alone, "--ranks", "2", code=5).stderr)

    def test_usage(self):
        plan = self.compile_shared()
        self.dry_run(plan, "--ranks", "0", code=2)
        self.assertIn("is refused", self.dry_run("shared.yaml", code=5).stderr)


class RanksOfPlans(Foresight):
    """A plan for any number of ranks is one plan: nothing in it but figures is of their number."""

    FIGURES = ("checksum", "ranks", "steps_per_epoch", "seconds")

    def differences(self, one, other, path=""):
        if isinstance(one, dict) and isinstance(other, dict):
            self.assertEqual(one.keys(), other.keys(), path)
            return [text for key in one for text in self.differences(one[key], other[key], f"{path}/{key}")]
        if isinstance(one, list) and isinstance(other, list):
            self.assertEqual(len(one), len(other), path)
            return [text for index, pair in enumerate(zip(one, other)) for text in self.differences(*pair, f"{path}/{index}")]
        return [] if one == other else [path]

    def test_plan_and_time_to_compile_do_not_depend_on_ranks(self):
        job = self.write("residual.yaml", "kind: job\nmodel: resnet50\nthreads: 1\nparallel: {data: auto}\n"
                         "dataset: {type: synthetic, shape: [3, 224, 224], classes: 1000, train_samples: 1048576,"
                         " test_samples: 64}\ntraining: {extends: sgd_momentum, epochs: 1, batch_size: 8}\n")
        seconds = {1: [], 4096: []}
        plans = {}
        for _ in range(3):
            for ranks, times in seconds.items():
                output = self.path(f"{ranks}.json")
                began = time.monotonic()
                self.expect(self.dtnnc("compile", job, "--ranks", str(ranks), "-o", output), 0)
                times.append(time.monotonic() - began)
                if ranks not in plans:
                    with open(output, encoding="utf-8") as file:
                        plans[ranks] = json.load(file)
        found = self.differences(plans[1], plans[4096])
        self.assertEqual([path for path in found if path.split("/")[-1] not in self.FIGURES], [])
        self.assertIn("/target/ranks", found)
        self.assertTrue(any(path.endswith("/seconds") for path in found))
        one, many = min(seconds[1]), min(seconds[4096])
        print(f"resnet50 compiled for 4096 ranks in {many:.3f} s, for 1 in {one:.3f} s: {many / one:.2f} times")
        self.assertLess(many, 1.5 * one + 0.1)

    def test_memory_is_what_a_run_allocates(self):
        plan = self.path("shared.json")
        self.expect(self.dtnnc("compile", "shared.yaml", "-o", plan, "--threads", "1"), 0)
        with open(plan, encoding="utf-8") as file:
            memory = json.load(file)["memory"]
        rows = self.rows(plan, "--machine", "machine.yaml", "--ranks", "1,2,4096")
        self.assertEqual({row["memory_bytes"] for row in rows}, {memory["arena"] + memory["staging"] + memory["samples"]})
        dry = json.loads(self.expect(self.dtnn_run(plan, "--dry-run", "--ranks", "64", "--format", "json"), 0).stdout)
        self.assertEqual(dry["memory_bytes"], rows[0]["memory_bytes"])
        ranks = [[]]
        if not why_no_ranks():
            ranks.append(["--ranks", "2"])
        for words in ranks:
            with self.subTest(words=words):
                bench = json.loads(self.expect(self.dtnn_run("bench", plan, *words, "--steps", "3", "--format", "json"),
                                               0).stdout)
                self.assertEqual(bench["arena_bytes"], {"planned": memory["arena"], "allocated": memory["arena"]})


if __name__ == "__main__":
    unittest.main()
