#!/usr/bin/env python3
"""Many runs: sweeps that are trained, stopped and gone on with, and runs that are compared."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNN_RUN, CommandTest, limit


class Trained(CommandTest):
    """A sweep of two batch sizes, in the folder `sweep`."""

    def sweep(self, *sweeps, folder="sweep", settings=()):
        words = [word for sweep in sweeps or ("training.batch_size=32,64",) for word in ("--sweep", sweep)]
        words += [word for setting in settings for word in ("--set", setting)]
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", folder, "--threads", "1", *words), 0)

    def table(self, folder="sweep"):
        with open(self.path(f"{folder}/results.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def events(self, folder):
        return [line["event"] for line in self.history(folder)]


class SweepRuns(Trained):
    def test_every_plan_is_trained_and_the_table_says_what_came_of_it(self):
        self.sweep("training.batch_size=32,64", "training.optimizer.adam.learning_rate=0.001,0.003")
        process = self.expect(self.dtnn_run("sweep", "sweep"), 0)
        rows = self.table()
        self.assertEqual([(row["training.batch_size"], row["training.optimizer.adam.learning_rate"]) for row in rows],
                         [("32", "0.001"), ("32", "0.003"), ("64", "0.001"), ("64", "0.003")])
        for row in rows:
            self.assertEqual((row["state"], row["epochs"], row["epochs_planned"], row["error"]), ("finished", "2", "2", ""))
            self.assertGreater(float(row["seconds"]), 0)
            history = self.history(row["folder"])
            losses = [line["validation"]["loss"] for line in history if line["event"] == "epoch"]
            self.assertEqual(float(row["best.validation.loss"]), min(losses))
            self.assertEqual(int(row["best_epoch.validation.loss"]), 1 + losses.index(min(losses)))
            accuracies = [line["validation"]["categorical_accuracy"] for line in history if line["event"] == "epoch"]
            self.assertEqual(float(row["best.validation.categorical_accuracy"]), max(accuracies))
            self.assertEqual(float(row["test.loss"]), history[-1]["test"]["loss"])
        # What is printed is for people: a column for each setting, and which run is best.
        self.assertIn("batch_size", process.stdout)
        best = min(rows, key=lambda row: float(row["best.validation.loss"]))
        self.assertIn(f"batch_size={best['training.batch_size']} "
                      f"learning_rate={best['training.optimizer.adam.learning_rate']}", process.stdout)
        self.assertIn("run 1 of 4", process.stderr)
        # A run of a sweep is the run of its plan.
        plan = f"sweep/{rows[3]['run']}.plan.json"
        self.expect(self.dtnn_run(plan, "--output", "alone"), 0)
        self.assertEqual(self.bytes_of("alone/weights.safetensors"),
                         self.bytes_of(rows[3]["folder"] + "/weights.safetensors"))

    def test_the_table_in_other_forms(self):
        self.sweep()
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        text = self.expect(self.dtnn_run("sweep", "sweep", "--table", "--format", "csv"), 0).stdout
        self.assertEqual(text, self.read("sweep/results.csv"))
        document = json.loads(self.expect(self.dtnn_run("sweep", "sweep", "--table", "--format", "json"), 0).stdout)
        self.assertEqual(document["version"], 1)
        self.assertEqual([run["settings"] for run in document["runs"]],
                         [{"training.batch_size": "32"}, {"training.batch_size": "64"}])
        rows = self.table()
        self.assertEqual([run["best"]["validation.loss"]["value"] for run in document["runs"]],
                         [float(row["best.validation.loss"]) for row in rows])
        self.assertIn(document["best"]["validation.loss"], [row["run"] for row in rows])
        (difference,) = [one for one in document["differences"] if one["what"] == "training.batch_size"]
        self.assertEqual((difference["values"], difference["meaning"]), (["32", "64"], "changes the mathematics"))

    def test_a_table_before_anything_was_trained(self):
        self.sweep()
        process = self.expect(self.dtnn_run("sweep", "sweep", "--table"), 0)
        self.assertIn("waiting", process.stdout)
        self.assertEqual([(row["state"], row["epochs"]) for row in self.table()], [("waiting", "0")] * 2)
        self.assertFalse(os.path.exists(self.path("sweep/runs")))

    def test_finished_runs_are_left_alone(self):
        self.sweep()
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        before = {row["run"]: self.read(row["folder"] + "/history.jsonl") for row in self.table()}
        process = self.expect(self.dtnn_run("sweep", "sweep"), 0)
        self.assertIn("batch_size-32: finished", process.stderr)
        self.assertEqual({row["run"]: self.read(row["folder"] + "/history.jsonl") for row in self.table()}, before)

    def test_a_run_that_fails_does_not_keep_the_others_from_being_trained(self):
        self.sweep("training.optimizer.adam.learning_rate=1e30,0.001")
        process = self.expect(self.dtnn_run("sweep", "sweep"), 1)
        bad, good = self.table()
        self.assertEqual((bad["state"], good["state"]), ("failed", "finished"))
        self.assertIn("loss", bad["error"])
        self.assertIn(f"{bad['run']} failed: ", process.stderr)
        self.assertNotIn(f"{good['run']} failed", process.stderr)

    def test_a_plan_that_cannot_be_run_is_one_that_fails(self):
        self.sweep()
        plan = json.loads(self.read("sweep/index.json"))["plans"][0]["file"]
        self.write("sweep/" + plan, "{}")
        self.expect(self.dtnn_run("sweep", "sweep"), 1, plan)
        bad, good = self.table()
        self.assertEqual((bad["state"], good["state"], good["epochs"]), ("failed", "finished", "2"))
        self.assertIn(plan, bad["error"])

    def start(self, *words):
        environment = dict(os.environ, NO_COLOR="1", DTNN_TUNING="")
        process = subprocess.Popen([DTNN_RUN, "sweep", "sweep", *words], cwd=self.folder, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def wait_for_epoch(self, run):
        for _ in range(int(limit(600))):
            path = f"sweep/runs/{run}/history.jsonl"
            if os.path.exists(self.path(path)) and '"epoch"' in self.read(path):
                return
            time.sleep(0.05)
        self.fail("no epoch was ever done")

    def test_a_sweep_that_was_killed_goes_on_to_the_same_bits(self):
        long = ("dataset.train_samples=3000", "training.epochs=4")
        self.sweep(settings=long)
        self.sweep(settings=long, folder="whole")
        self.expect(self.dtnn_run("sweep", "whole"), 0)
        process = self.start()
        self.wait_for_epoch("batch_size-32")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=limit(60))
        # The run that it had started ends with it, behind a checkpoint.
        for _ in range(600):
            state = self.expect(self.dtnn_run("sweep", "sweep", "--table", "--format", "json"), 0).stdout
            states = [run["state"] for run in json.loads(state)["runs"]]
            if states[0] != "running":
                break
            time.sleep(0.05)
        self.assertIn(states[0], ("interrupted", "finished"))
        self.assertEqual(states[1], "waiting")
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        for mine, other in zip(self.table(), self.table("whole")):
            for name in ("state", "epochs", "best.validation.loss", "test.loss"):
                self.assertEqual(mine[name], other[name])
            self.assertEqual(self.bytes_of(mine["folder"] + "/weights.safetensors"),
                             self.bytes_of(other["folder"] + "/weights.safetensors"))

    def test_a_signal_stops_the_sweep_and_the_same_command_goes_on(self):
        self.sweep(settings=("dataset.train_samples=3000", "training.epochs=200"))
        process = self.start()
        self.wait_for_epoch("batch_size-32")
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, stderr)
        self.assertIn("dtnn-run sweep sweep", stderr)
        self.assertEqual([row["state"] for row in self.table()], ["interrupted", "waiting"])
        self.assertIn("interrupted", stdout)

    def test_two_sweeps_of_a_folder_share_the_work(self):
        self.sweep(settings=("dataset.train_samples=3000", "training.epochs=200"))
        first = self.start()
        self.wait_for_epoch("batch_size-32")
        second = self.start()
        self.wait_for_epoch("batch_size-64")
        self.assertEqual([run["state"] for run in json.loads(self.expect(
            self.dtnn_run("sweep", "sweep", "--table", "--format", "json"), 0).stdout)["runs"]], ["running"] * 2)
        for process in (first, second):
            process.send_signal(signal.SIGTERM)
        said = [process.communicate(timeout=limit(60))[1] for process in (first, second)]
        self.assertEqual((first.returncode, second.returncode), (75, 75), said)
        self.assertIn("another process trains it", said[1])

    def test_what_is_no_sweep_is_refused(self):
        self.expect(self.dtnn_run("sweep", "."), 2, "no folder of a sweep")
        self.expect(self.dtnn_run("sweep"), 2)
        self.sweep()
        self.write("sweep/index.json", '{"version": 1}')
        self.expect(self.dtnn_run("sweep", "sweep"), 5, "sweep/index.json")
        index = {"version": 1, "spec": "x", "settings": [], "sweeps": [], "plans": [
            {"file": "../x.plan.json", "settings": [], "parameters": 1, "arena_bytes": 1,
             "forward_flops_per_sample": 1, "train_step_flops": 1}]}
        self.write("sweep/index.json", json.dumps(index))
        self.expect(self.dtnn_run("sweep", "sweep"), 5, "../x.plan.json", "no name of a plan")

    def test_trained_plans_are_not_written_over(self):
        self.sweep()
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "sweep", "--sweep", "training.epochs=1,2"), 1,
                    "its plans have been trained")
        self.assertEqual([row["state"] for row in self.table()], ["finished"] * 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
