#!/usr/bin/env python3
"""Many runs: sweeps that are trained, stopped and gone on with, and runs that are compared."""

import csv
import html.parser
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNNC, DTNN_RUN, CommandTest, limit, run


PETS = """kind: job
name: pets
model:
  input: {shape: [2, 1, 1]}
  layers: [flatten, dense: {units: 2}, softmax]
dataset: {type: csv, path: pets.csv, test_path: pets.csv, shape: [2, 1, 1], classes: 2, train_samples: 60,
          test_samples: 60}
training: {epochs: 2, batch_size: 20, optimizer: sgd, metrics: [confusion_matrix]}
"""


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
        # The printed table is for people: a column for each setting, and which run is best.
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


class MoreEpochs(Trained):
    """--epochs: a run that has finished goes on."""

    def train(self, folder, *settings, plan=None):
        words = [word for setting in settings for word in ("--set", setting)]
        self.compile("--threads", "1", *words, plan=plan or f"{folder}.json")
        return self.expect(self.dtnn_run(plan or f"{folder}.json", "--output", folder), 0)

    def more(self, folder, epochs, code=0, *texts):
        return self.expect(self.dtnn_run("--resume", folder, "--epochs", epochs), code, *texts)

    def tensors(self, path):
        """A safetensors file without its metadata, which name the plan."""
        data = self.bytes_of(path)
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        header.pop("__metadata__")
        return header, data[8 + size:]

    def newest(self, folder):
        return f"{folder}/checkpoints/{self.read(folder + '/checkpoints/latest').strip()}/parameters.safetensors"

    def epochs(self, folder):
        return [{name: line[name] for name in ("epoch", "step", "learning_rate", "train", "validation")}
                for line in self.history(folder) if line["event"] == "epoch"]

    def assert_same_training(self, mine, other):
        self.assertEqual(self.epochs(mine), self.epochs(other))
        self.assertEqual(self.history(mine)[-1], self.history(other)[-1])
        self.assertEqual(self.tensors(mine + "/weights.safetensors"), self.tensors(other + "/weights.safetensors"))
        # The optimizer's state, too.
        self.assertEqual(self.tensors(self.newest(mine)), self.tensors(self.newest(other)))

    def test_two_epochs_and_two_more_are_four_to_the_bit(self):
        self.train("whole", "training.epochs=4")
        self.train("run")
        process = self.more("run", "+2")
        self.assertIn("another training: the one before ended after epoch 2, this one has 4 epochs", process.stderr)
        self.assertIn("the same as one training of so many", process.stderr)
        self.assert_same_training("run", "whole")
        # One after the other comes to the same, as does the number in all.
        self.train("steps", "training.epochs=1")
        self.more("steps", "+1")
        self.more("steps", "4")
        self.assert_same_training("steps", "whole")

    def test_plan_and_history_say_so(self):
        self.train("run")
        ended, told = self.read("run/plan.json"), self.history("run")
        self.more("run", "+2")
        plan = json.loads(self.read("run/plan.json"))
        self.assertEqual(plan["training"]["epochs"], 4)
        self.assertIn("# --epochs +2", next(line for line in self.read("run/resolved.yaml").splitlines()
                                            if line.startswith("  epochs: 4")))
        self.assertEqual(self.read("run/ended/epoch_2.json"), ended)
        self.expect(self.dtnnc("diff", "run/ended/epoch_2.json", "run/plan.json"), 1, "training.epochs: 2 -> 4",
                    "changes the mathematics")
        (event,) = [line for line in self.history("run") if line["event"] == "continued"]
        self.assertEqual((event["epoch"], event["epochs"], event["spanning"]), (2, 4, []))
        # The test of the training that ended stays.
        self.assertEqual(self.events("run"), ["start", "epoch", "epoch", "evaluate", "resume", "continued", "epoch",
                                              "epoch", "evaluate"])
        self.assertEqual(self.history("run")[:4], told)
        # Gone on with again, it tells its own end again, and only that.
        self.expect(self.dtnn_run("--resume", "run"), 0)
        self.more("run", "+1")
        self.assertEqual(self.events("run"), ["start", "epoch", "epoch", "evaluate", "resume", "continued", "epoch",
                                              "epoch", "resume", "evaluate", "resume", "continued", "epoch", "evaluate"])
        self.expect(self.dtnn_run("report", "run"), 0)
        page = self.read("run/report.html")
        for ended in (2, 4):
            self.assertRegex(page, rf"after epoch {ended}, test loss \d[\d.]*: another training")

    def test_schedules_that_span_the_training_are_named(self):
        cosine = "training.schedules=[cosine, {warm_up: {epochs: 1}}]"
        self.train("whole", "training.epochs=4", cosine)
        self.train("run", cosine)
        process = self.more("run", "+2", 0, "`cosine` spans all epochs, now 4 in place of 2")
        self.assertNotIn("warm_up", process.stderr)
        self.assertNotIn("the same as one training", process.stderr)
        (event,) = [line for line in self.history("run") if line["event"] == "continued"]
        self.assertEqual(event["spanning"], ["cosine"])
        # The rates are those of four epochs from there on, and were those of two before.
        rates, whole = ([one["learning_rate"] for one in self.epochs(folder)] for folder in ("run", "whole"))
        self.assertEqual(rates[2:], whole[2:])
        self.assertNotEqual(rates[:2], whole[:2])
        self.train("formula", "training.schedules=[{formula: {factor: 1 - 0.5 * epoch / epochs}}]")
        self.more("formula", "+1", 0, "`formula` spans all epochs, now 3 in place of 2")

    def test_it_goes_on_after_a_kill_as_any_run_does(self):
        long = ("dataset.train_samples=3000",)
        self.train("whole", "training.epochs=42", *long)
        self.train("run", *long)
        environment = dict(os.environ, NO_COLOR="1", DTNN_TUNING="")
        with subprocess.Popen([DTNN_RUN, "--resume", "run", "--epochs", "+40"], cwd=self.folder, env=environment,
                              stderr=subprocess.DEVNULL) as process:
            for _ in range(int(limit(600))):
                if len(self.epochs("run")) > 3 or process.poll() is not None:
                    break
                time.sleep(0.02)
            process.kill()
        if self.events("run")[-1] != "evaluate":
            self.more("run", "+40", 5, "the run run has not finished")
            # A metric that is asked for in all runs may be asked for again.
            self.more("run", "42")
        self.assert_same_training("run", "whole")

    def test_a_training_that_a_schedule_has_ended_goes_on_too(self):
        self.train("run", "training.epochs=20",
                   "training.schedules=[{early_stopping: {metric: loss, patience: 2, threshold: 1000}}]")
        self.assertEqual(len(self.epochs("run")), 3)
        # It waits for as long as at the beginning.
        self.more("run", "+1")
        self.assertEqual((len(self.epochs("run")), self.history("run")[-1]["event"]), (4, "evaluate"))
        self.more("run", "20")
        self.assertEqual(len(self.epochs("run")), 6)
        self.assertEqual([line["epoch"] for line in self.history("run") if line["event"] == "continued"], [3, 4])

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        self.train("run")
        before = {name: self.bytes_of("run/" + name) for name in ("plan.json", "history.jsonl", "weights.safetensors")}
        self.more("run", "2", 2, "leaves none")
        for wrong in ("+0", "0", "-1", "two", "+"):
            self.expect(self.dtnn_run("--resume", "run", f"--epochs={wrong}"), 2, "no number of epochs")
        self.expect(self.dtnn_run("run.json", "--epochs", "+1"), 2, "--resume")
        self.train("none", "training.checkpoint.every_epochs=0")
        self.more("none", "+1", 5, "keeps no checkpoint")
        self.assertEqual(json.loads(self.read("none/plan.json"))["training"]["epochs"], 2)
        self.assertFalse(os.path.exists(self.path("none/ended")))
        # The newest checkpoint stands before the end: what spans all epochs would go another way from there.
        self.train("late", "training.epochs=3", "training.checkpoint.every_epochs=2", "training.schedules=[cosine]")
        self.more("late", "+1", 5, "step", "`cosine` spans all epochs")
        self.assertEqual(json.loads(self.read("late/plan.json"))["training"]["epochs"], 3)
        for name, data in before.items():
            self.assertEqual(self.bytes_of("run/" + name), data)

    def test_a_checkpoint_before_the_end_serves_where_nothing_spans_the_training(self):
        self.train("whole", "training.epochs=5", "training.checkpoint.every_epochs=2")
        self.train("run", "training.epochs=3", "training.checkpoint.every_epochs=2")
        self.more("run", "+2")
        self.assertEqual(self.epochs("run"), self.epochs("whole"))
        self.assertEqual(self.tensors("run/weights.safetensors"), self.tensors("whole/weights.safetensors"))

    def test_with_restarts_and_in_a_sweep(self):
        self.sweep()
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        run = "sweep/runs/batch_size-32"
        self.expect(self.dtnn_run("--max-restarts", "1", "--resume", run, "--epochs", "+1"), 0)
        self.assertEqual(len(self.epochs(run)), 3)
        self.expect(self.dtnn_run("sweep", "sweep"), 0, "batch_size-32: finished")
        self.assertEqual([(row["epochs"], row["epochs_planned"]) for row in self.table()], [("3", "3"), ("2", "2")])


class Page(html.parser.HTMLParser):
    """What stands in a page: elements are closed as they were opened, and texts by the element around them."""

    EMPTY = {"meta", "br", "wbr", "circle", "line", "path", "rect"}

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.links, self.classes, self.joins = [], [], [], [], False
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.joins = False
        values = dict(attributes)
        self.classes.append((tag, values.get("class", "")))
        if tag == "a":
            self.links.append(values["href"])
        if tag not in self.EMPTY:
            self.open.append((tag, values.get("class", "")))

    def handle_endtag(self, tag):
        self.joins = False
        if tag not in self.EMPTY:
            assert self.open and self.open[-1][0] == tag, (tag, self.open)
            self.open.pop()

    def handle_startendtag(self, tag, attributes):
        self.classes.append((tag, dict(attributes).get("class", "")))

    def handle_data(self, data):
        if self.open and self.joins:
            data = self.texts.pop()[-1] + data
        if self.open:
            self.texts.append((*self.open[-1], data))
        self.joins = True     # a name goes on behind a place where it may be broken

    def of(self, tag, style=None):
        return [text for name, own, text in self.texts if name == tag and (style is None or own == style)]


class Compared(Trained):
    """Runs beside each other."""

    def setUp(self):
        super().setUp()
        for name, settings in (("a", ()), ("b", ("training.batch_size=32",)),
                               ("c", ("training.batch_size=32", "model.layers.0.conv2d.filters=6"))):
            words = [word for setting in settings for word in ("--set", setting)]
            self.compile("--threads", "1", *words, plan=f"{name}.json")
            self.expect(self.dtnn_run(f"{name}.json", "--output", f"runs/{name}"), 0)

    def page(self, path):
        text = self.read(path)
        self.assertNotIn("<script", text)
        self.assertNotIn("http", text)
        return Page(text)

    def test_as_text_csv_and_json(self):
        text = self.expect(self.dtnn_run("report", "runs/a", "runs/b", "runs/c", "--format", "text"), 0).stdout
        self.assertIn("training.batch_size: 64, 32, 32\n    changes the mathematics", text)
        self.assertRegex(text, r"conv2d.filters \(conv2d_1\): 4, 4, 6\n    changes the mathematics")
        rows = list(csv.DictReader(io.StringIO(
            self.expect(self.dtnn_run("report", "runs/a", "runs/b", "runs/c", "--format", "csv"), 0).stdout)))
        self.assertEqual([row["run"] for row in rows], ["a", "b", "c"])
        self.assertEqual([row["training.batch_size"] for row in rows], ["64", "32", "32"])
        self.assertEqual([row["conv2d.filters (conv2d_1)"] for row in rows], ["4", "4", "6"])
        document = json.loads(
            self.expect(self.dtnn_run("report", "runs/a", "runs/b", "runs/c", "--format", "json"), 0).stdout)
        losses = [min(line["validation"]["loss"] for line in self.history(f"runs/{name}") if line["event"] == "epoch")
                  for name in "abc"]
        self.assertEqual([run["best"]["validation.loss"]["value"] for run in document["runs"]], losses)
        self.assertEqual(document["best"]["validation.loss"], "abc"[losses.index(min(losses))])
        # A folder of runs is these runs.
        self.assertEqual(json.loads(self.expect(self.dtnn_run("report", "runs", "--format", "json"), 0).stdout), document)

    def test_a_page_of_several_runs(self):
        self.expect(self.dtnn_run("report", "runs/b"), 0)
        self.expect(self.dtnn_run("report", "runs/a", "runs/b", "runs/c"), 0, "wrote comparison.html")
        page = self.page("comparison.html")
        # Losses of both splits, the accuracy, and the loss by steps, a curve of each run in every one.
        self.assertEqual(page.of("text", "title"), ["validation loss", "training loss", "validation categorical_accuracy",
                                                    "training loss by steps"])
        self.assertEqual(sum(own.startswith("curve c") for tag, own in page.classes if tag == "path"), 12)
        self.assertIn("runs/b/report.html", page.links)
        self.assertNotIn("runs/a/report.html", page.links)
        for link in page.links:
            self.assertTrue(link.startswith("#") or os.path.exists(self.path(link)), link)
        self.assertEqual(len(page.of("span", "best")), 2)
        self.assertIn("changes the mathematics", page.of("td"))
        # From another folder the links lead to the same pages.
        os.mkdir(self.path("pages"))
        self.expect(self.dtnn_run("report", "runs", "-o", "pages/all.html"), 0)
        self.assertIn("../runs/b/report.html", self.page("pages/all.html").links)

    def test_diff_of_a_folder(self):
        process = self.expect(self.dtnnc("diff", "runs", "--page", "diff.html"), 1,
                              "training.batch_size: 64, 32, 32", "changes the mathematics")
        self.assertIn("* validation.loss", process.stdout)
        self.page("diff.html")
        self.assertEqual(self.expect(self.dtnnc("diff", "runs", "--format", "csv"), 1).stdout,
                         self.expect(self.dtnn_run("report", "runs", "--format", "csv"), 0).stdout)
        self.assertEqual(json.loads(self.expect(self.dtnnc("diff", "runs", "--format", "json"), 1).stdout)["version"], 1)
        # Two runs, by their plans; and runs of one plan.
        self.expect(self.dtnnc("diff", "runs/a", "runs/b"), 1, "training.batch_size: 64 -> 32")
        self.expect(self.dtnn_run("a.json", "--output", "same/1"), 0)
        self.expect(self.dtnn_run("a.json", "--output", "same/2"), 0)
        self.expect(self.dtnnc("diff", "same"), 0)
        self.expect(self.dtnnc("diff", "runs/a"), 0)
        for words, text in ((("a.json",), "B is missing"), (("a.json", "b.json", "--format", "csv"), "--format csv"),
                            (("a.json", "b.json", "--page", "x.html"), "--page")):
            self.expect(self.dtnnc("diff", *words), 2, text)
        self.expect(self.dtnnc("diff", "pages-that-are-not"), 2)
        os.mkdir(self.path("empty"))
        self.expect(self.dtnnc("diff", "empty"), 2, "no folder of a run")
        self.expect(self.dtnn_run("report", "empty", "runs/a"), 2, "no folder of a run")

    def test_a_sweep_before_and_after(self):
        self.sweep("training.batch_size=32,64", "training.seed=1,2")
        text = self.expect(self.dtnnc("diff", "sweep"), 1, "waiting").stdout
        self.assertIn("training.batch_size: 32, 32, 64, 64", text)
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        self.expect(self.dtnn_run("report", "sweep"), 0, "wrote sweep/report.html")
        page = self.page("sweep/report.html")
        self.assertIn("batch_size-32_seed-1", page.of("span", ""))
        self.assertEqual(self.expect(self.dtnnc("diff", "sweep", "--format", "csv"), 1).stdout, self.read("sweep/results.csv"))

    def test_the_page_of_a_run(self):
        self.compile("--threads", "1", "--set", "training.metrics=[categorical_accuracy, confusion_matrix]", "--set",
                     "training.epochs=3", plan="d.json")
        self.expect(self.dtnn_run("d.json", "--output", "runs/d e"), 0)
        self.expect(self.dtnn_run("report", "runs/d e"), 0)
        page = self.page("runs/d e/report.html")
        # Epochs are whole, numbers have four digits; all numbers of an axis have as many decimals.
        for chart in self.read("runs/d e/report.html").split("<svg")[1:]:
            if ">epoch</text>" in chart:
                self.assertEqual(re.findall(r'class="tick x">([^<]*)<', chart), ["1", "2", "3"])
            ticks = re.findall(r'text-anchor="end" class="tick">([^<]*)<', chart)
            self.assertEqual(len({len(text.partition(".")[2]) for text in ticks if text != "0"}), 1, ticks)
        for text in page.of("td"):
            self.assertNotRegex(text, r"^\d\.\d{6,}$")
        # Layers and settings are there to be seen, with everything they say.
        self.assertIn("conv2d_1", page.of("td"))
        self.assertIn("training.batch_size", page.of("td"))
        self.assertNotIn("<details>", self.read("runs/d e/report.html"))
        self.assertEqual(set(page.links), {"#curves", "#test", "#epochs", "#layers", "#settings", "#environment", "#next"})
        # The command that the page suggests works.
        commands = page.of("pre", "command")
        self.assertGreaterEqual(len(commands), 4)
        for command in commands:
            command = command.replace("FILE-OR-FOLDER", "test").replace("OTHER-RUN", "runs/a")
            self.assertTrue(command.startswith("dtnn-run "), command)
            process = run("bash", "-c", DTNN_RUN + command[len("dtnn-run"):], cwd=self.folder)
            self.assertEqual(process.returncode, 0, command + process.stderr)
        self.expect(self.dtnn_run("report", "runs/d e"), 0)
        self.assertRegex("\n".join(self.page("runs/d e/report.html").of("dd")),
                         r"after epoch 3, test loss [\d.]+: another training")

    def test_the_result_is_in_the_head_and_the_kept_epoch_marked(self):
        self.compile("--threads", "1", "--set", "training.epochs=3", "--set",
                     "training.schedules=[{early_stopping: {patience: 3, restore_best: true}}]", plan="kept.json")
        self.expect(self.dtnn_run("kept.json", "--output", "runs/kept"), 0)
        self.expect(self.dtnn_run("report", "runs/kept"), 0)
        (restored,) = [line for line in self.history("runs/kept") if line["event"] == "restored"]
        test = self.history("runs/kept")[-1]["test"]
        text, page = self.read("runs/kept/report.html"), self.page("runs/kept/report.html")
        head = Page(text[text.index("<header>"):text.index("</header>")] + "</header>")
        self.assertEqual(head.of("p", "result")[0].strip(),
                         f"Test: loss {test['loss']:.4g}, categorical_accuracy {test['categorical_accuracy']:.4g}")
        charts = sum(own == "chart" for tag, own in page.classes if tag == "svg")
        self.assertEqual(sum(own == "mark kept" for _, own in page.classes), charts)
        self.assertIn(f'<tr class="kept"><td>{restored["epoch"]} <small>kept</small>', text)
        self.expect(self.dtnn_run("report", "runs/a"), 0)
        self.assertNotIn("mark kept", self.read("runs/a/report.html"))

    def test_a_sweeps_page_shows_the_metric_by_setting(self):
        self.sweep("training.optimizer.adam.learning_rate=0.0001,0.01", "training.history_every=1,2")
        self.expect(self.dtnn_run("sweep", "sweep"), 0)
        self.expect(self.dtnn_run("report", "sweep"), 0)
        page, rows = self.page("sweep/report.html"), self.table()
        self.assertEqual(page.of("h3"), ["learning_rate", "history_every"])
        self.assertEqual(page.of("text", "tick").count("learning_rate (logarithmic)"), 2)
        # How often the history is written changes no result: each best value is of two runs at least.
        losses = [float(row["best.validation.loss"]) for row in rows]
        accuracies = [float(row["best.validation.categorical_accuracy"]) for row in rows]
        ties = losses.count(min(losses)) + accuracies.count(max(accuracies))
        self.assertGreaterEqual(ties, 4)
        self.assertEqual(sum(own == "best" for tag, own in page.classes if tag == "circle"), 2 * ties)
        self.assertEqual(sum(text.endswith(", tie)") for text in page.of("small")), ties)
        self.assertIn("(a tie)", self.expect(self.dtnn_run("sweep", "sweep", "--table"), 0).stdout)

    def test_a_run_that_failed_says_why_and_what_to_try(self):
        self.compile("--threads", "1", "--set", "training.optimizer={sgd: {learning_rate: 1e20}}", plan="far.json")
        self.expect(self.dtnn_run("far.json", "--output", "runs/far"), 6, "not finite")
        self.expect(self.dtnn_run("report", "runs/far"), 0)
        page = self.page("runs/far/report.html")
        self.assertIn("No epoch has ended, so there is nothing to draw.", page.of("p"))
        self.assertTrue(any("not finite" in text for text in page.of("p", "bad why")))
        # There is no checkpoint to go on from; what is advised instead does what it says.
        commands = page.of("pre", "command")
        self.assertFalse([command for command in commands if "--resume" in command])
        again = [command for command in commands if command.startswith("dtnnc compile ")][0].split(" && ")[0]
        process = run("bash", "-c", DTNNC + again[len("dtnnc"):], cwd=self.folder)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("learning_rate=1e+19", again)
        self.expect(self.dtnnc("diff", "far.json", "again.json"), 1, "training.optimizer.sgd.learning_rate: 1e+20 -> 1e+19")
        # Beside others the reason has its own line, and the table stays narrow.
        self.expect(self.dtnn_run("report", "runs/a", "runs/far"), 0)
        page = self.page("comparison.html")
        self.assertIn("failed", page.of("span", "bad"))
        self.assertTrue(any(text.startswith("far failed: ") for text in page.of("p", "bad why")))
        self.assertNotIn("optimizer", page.of("th"))
        self.assertIn("#differences", page.links)
        self.assertEqual(page.of("code"), ["dtnn-run report RUN"])

    def test_times_of_operators_are_a_table(self):
        self.expect(self.dtnn_run("a.json", "--output", "runs/traced", "--trace", "trace.json"), 0)
        self.expect(self.dtnn_run("report", "runs/traced"), 0)
        page = self.page("runs/traced/report.html")
        self.assertIn("GFLOP/s", page.of("th"))
        self.assertIn("conv2d_backward_weights", page.of("td"))
        self.assertTrue(any(re.fullmatch(r"[\d.]+ [mu]?s", text) for text in page.of("td")), page.of("td"))
        # Text that is not aligned stays as it is.
        for text in ("operator  ms  %\nconv2d  3\n", "operator\nall  1\n", "a  b\n1  2  3\n"):
            self.write("runs/traced/operator_times.txt", text)
            self.expect(self.dtnn_run("report", "runs/traced"), 0)
            self.assertIn(text, self.page("runs/traced/report.html").of("pre"))
        # Large numbers may move the ends of a line that has them all.
        self.write("runs/traced/operator_times.txt", "operator  ms  GB/s\nconv2d    1.5  123456.5\nall      7.5\n")
        self.expect(self.dtnn_run("report", "runs/traced"), 0)
        self.assertIn("123456.5", self.page("runs/traced/report.html").of("td"))

    def test_on_narrow_pages_cells_say_what_they_are(self):
        self.expect(self.dtnn_run("report", "runs/a"), 0)
        page = self.read("runs/a/report.html")
        self.assertIn('<td data-head="value">', page)
        self.assertIn("content: attr(data-head)", page)

    def test_classes_have_their_names(self):
        rows = [f"{x},{x * 7 % 10},{'cat' if x % 2 else 'dog <b>'}" for x in range(60)]
        self.write("pets.csv", "\n".join(["a,b,kind"] + rows) + "\n")
        self.write("pets.yaml", PETS)
        self.compile(spec="pets.yaml", plan="pets.json")
        self.expect(self.dtnn_run("pets.json", "--output", "runs/pets"), 0)
        self.assertEqual(self.history("runs/pets")[0]["class_names"], ["cat", "dog <b>"])
        self.expect(self.dtnn_run("report", "runs/pets"), 0)
        heads = self.page("runs/pets/report.html").of("th")
        self.assertEqual((heads.count("cat"), heads.count("dog <b>")), (2, 2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
