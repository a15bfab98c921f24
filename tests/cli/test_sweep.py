#!/usr/bin/env python3
"""Sweeps: every combination of several values, checked together, written together or not at all."""

import csv
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest


class Sweep(CommandTest):
    SWEEPS = ("--sweep", "training.batch_size=32,64", "--sweep", "model.layers.0.conv2d.kernel=3,[3,5],1")

    def test_a_plan_for_every_combination_and_an_index(self):
        process = self.expect(self.dtnnc("compile", "tiny.yaml", *self.SWEEPS), 0)
        index = json.loads(self.read("tiny-sweep/index.json"))
        self.assertEqual(index["version"], 1)
        self.assertEqual(index["spec"], "tiny.yaml")
        self.assertEqual(index["settings"], [])
        # The first sweep changes slowest.
        kernels = ["3", "[3,5]", "1"]
        self.assertEqual([plan["settings"] for plan in index["plans"]],
                         [[f"training.batch_size={batch}", f"model.layers.0.conv2d.kernel={kernel}"]
                          for batch in ("32", "64") for kernel in kernels])
        files = [plan["file"] for plan in index["plans"]]
        self.assertEqual(sorted(os.listdir(self.path("tiny-sweep"))), sorted(files + ["index.json"]))
        for plan in index["plans"]:
            self.assertRegex(plan["file"], r"^[A-Za-z0-9][A-Za-z0-9._+-]*\.plan\.json$")
            self.assertIn(plan["file"], process.stdout)
            summary = json.loads(self.expect(self.dtnnc("summary", "tiny-sweep/" + plan["file"], "--format", "json"),
                                             0).stdout)
            self.assertEqual(summary["parameters"]["total"], plan["parameters"])
            self.assertGreater(plan["arena_bytes"], 0)
            self.assertGreater(plan["train_step_flops"], plan["forward_flops_per_sample"])
        # A plan of a sweep is the plan of its settings.
        settings = [word for setting in index["plans"][4]["settings"] for word in ("--set", setting)]
        alone = self.compile(*settings)
        with open(alone, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.read("tiny-sweep/" + files[4]))

    def test_output_as_json_is_the_index(self):
        process = self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "out", "--format", "json", "--set",
                                         "training.epochs=3", *self.SWEEPS), 0)
        self.assertEqual(process.stdout, self.read("out/index.json"))
        self.assertEqual(json.loads(process.stdout)["settings"], ["training.epochs=3"])
        summary = json.loads(self.expect(self.dtnnc("summary", "tiny.yaml", "--format", "json", *self.SWEEPS),
                                         0).stdout)
        self.assertEqual([plan["arena_bytes"] for plan in summary["plans"]],
                         [plan["arena_bytes"] for plan in json.loads(process.stdout)["plans"]])
        self.assertEqual({plan["file"] for plan in summary["plans"]}, {None})

    def test_a_summary_has_the_form_that_is_asked_for(self):
        for form, begin in (("csv", "training.batch_size,"), ("markdown", "| training.batch_size |")):
            printed = self.expect(self.dtnnc("summary", "tiny.yaml", "--sweep", "training.batch_size=8,16",
                                             "--format", form), 0).stdout
            self.assertTrue(printed.startswith(begin), printed)
            self.assertNotIn("  ", printed)
            if form == "csv":
                index = json.loads(self.expect(self.dtnnc("summary", "tiny.yaml", "--sweep", "training.batch_size=8,16",
                                                          "--format", "json"), 0).stdout)
                self.assertEqual(printed.splitlines()[1:],
                                 [f"{batch},{plan['parameters']},{plan['arena_bytes']},{plan['train_step_flops']}"
                                  for batch, plan in zip((8, 16), index["plans"])])

    def test_folds_are_swept_with_their_mean_and_deviation(self):
        folds = [word for setting in ("training.k_folds=3", "training.validation_split=0", "dataset.train_samples=50",
                                      "training.epochs=1") for word in ("--set", setting)]
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "cv", "--sweep", "training.batch_size=8,16", *folds), 0)
        index = json.loads(self.read("cv/index.json"))
        self.assertEqual([plan["settings"] for plan in index["plans"]],
                         [[f"training.batch_size={batch}", f"training.fold={fold}"]
                          for batch in (8, 16) for fold in (1, 2, 3)])
        sizes = [json.loads(self.read("cv/" + plan["file"]))["dataset"] for plan in index["plans"][:3]]
        self.assertEqual([(one["train_samples"], one["validation_samples"]) for one in sizes],
                         [(33, 17), (33, 17), (34, 16)])
        said = self.expect(self.dtnn_run("sweep", "cv", "--progress", "none"), 0,
                           "mean and deviation (of the sample, n - 1) over fold:")
        self.assertRegex(said.stdout, r"(?m)^ *8 +3/3 +\S+ \+- \S+")
        told = json.loads(self.expect(self.dtnn_run("sweep", "cv", "--table", "--format", "json"), 0).stdout)
        self.assertEqual([group["settings"] for group in told["repeated"]],
                         [{"training.batch_size": "8"}, {"training.batch_size": "16"}])
        losses = [run["best"]["validation.loss"]["value"] for run in told["runs"][:3]]
        mean = sum(losses) / 3
        group = told["repeated"][0]
        self.assertEqual(group["over"], ["training.fold"])
        self.assertEqual(group["runs"], [run["run"] for run in told["runs"][:3]])
        self.assertAlmostEqual(group["values"]["best.validation.loss"]["mean"], mean, 9)
        self.assertAlmostEqual(group["values"]["best.validation.loss"]["deviation"],
                               (sum((loss - mean) ** 2 for loss in losses) / 2) ** 0.5, 9)
        self.assertEqual(len(set(losses)), 3)
        with open(self.path("cv/results.csv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([line["run"] for line in lines[6:]], ["mean", "deviation"] * 2)
        self.assertAlmostEqual(float(lines[6]["best.validation.loss"]), mean, 9)
        self.assertEqual(lines[6]["training.fold"], "")
        self.expect(self.dtnn_run("report", "cv"), 0)
        self.assertIn("Mean and deviation over fold", self.read("cv/report.html"))
        # One of them alone; without one a folder of all, also where nothing else is swept.
        self.compile(*folds, "--set", "training.fold=2")
        self.expect(self.dtnnc("compile", "tiny.yaml", *folds), 0, "3 plans")
        self.expect(self.dtnnc("summary", "tiny.yaml", *folds), 0)
        self.expect(self.dtnnc("compile", "tiny.yaml", *folds, "-o", "-"), 2, "--sweep writes a folder")
        # Seeds repeat an experiment, too.
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "seeds", "--sweep", "training.seed=1,2", "--set",
                               "training.epochs=1"), 0)
        self.expect(self.dtnn_run("sweep", "seeds", "--progress", "none"), 0, "over seed:")

    def test_a_mistake_in_one_combination_writes_nothing(self):
        sweeps = ("--sweep", "training.batch_size=32,0", "--sweep", "training.epochs=1,2")
        for command in ("check", "compile", "summary"):
            process = self.expect(self.dtnnc(command, "tiny.yaml", *sweeps), 3, "batch_size", "out-of-range",
                                  "in 2 of the 4 combinations, first in training.batch_size=0, training.epochs=1")
            self.assertEqual(process.stderr.count("error:"), 1)
        self.expect(self.dtnnc("check", "tiny.yaml", "--sweep", "training.epochs=1,x"), 3,
                    "in the combination training.epochs=x")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--memory-budget", "500KiB", "--sweep",
                               "training.batch_size=1,256"), 4, "in the combination training.batch_size=256")
        self.assertEqual(os.listdir(self.folder), ["tiny.yaml"])

    def test_check_writes_nothing_and_says_how_many_are_well(self):
        process = self.expect(self.dtnnc("check", "tiny.yaml", *self.SWEEPS), 0)
        self.assertEqual((process.stdout, process.stderr), ("tiny.yaml: ok: 6 combinations\n", ""))
        process = self.expect(self.dtnnc("check", "--quiet", "tiny.yaml", *self.SWEEPS), 0)
        self.assertEqual((process.stdout, process.stderr), ("", ""))
        self.assertEqual(os.listdir(self.folder), ["tiny.yaml"])

    def test_sweeps_that_cannot_be_made_are_usage_errors(self):
        for sweep, text in (("training.epochs", "path=value"), ("=1,2", "path=value"),
                            ("training.epochs=1,,2", "empty"), ("training.epochs=", "empty"),
                            ("training.epochs=1,2,1", "1 is given twice")):
            self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", sweep), 2, text)
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.epochs=1", "--sweep",
                               "training.epochs=2"), 2, "swept twice")
        many = ",".join(str(i) for i in range(1, 41))
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.epochs=" + many, "--sweep",
                               "training.batch_size=" + many), 2, "40 x 40 = 1600 combinations; the most is 1000")
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "-", *self.SWEEPS), 2, "folder")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--emit", "forward", *self.SWEEPS), 2, "--emit")
        self.expect(self.dtnnc("summary", self.compile(), *self.SWEEPS), 2, "is a plan")

    def test_files_have_names_of_their_own(self):
        # `a/b` and `a_b` would be one name; so would A and a where case does not count.
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "out", "--sweep", "dataset.name='a-b',a-b,A-b",
                               "--sweep", "name=x,y", "--sweep", "training.name=p,q"), 0)
        files = os.listdir(self.path("out"))
        self.assertEqual(len({name.lower() for name in files}), 13)
        # Paths with the same end are told apart.
        self.assertTrue(any("dataset.name-a-b" in name and "training.name-q" in name for name in files), files)

    def test_a_sweeps_own_folder_is_replaced_and_no_other(self):
        self.expect(self.dtnnc("compile", "tiny.yaml", *self.SWEEPS), 0)
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.epochs=1,2"), 0)
        self.assertEqual(sorted(os.listdir(self.path("tiny-sweep"))),
                         ["epochs-1.plan.json", "epochs-2.plan.json", "index.json"])
        self.write("tiny-sweep/notes.txt", "mine")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.epochs=3,4"), 1, "notes.txt")
        self.assertEqual(len(os.listdir(self.path("tiny-sweep"))), 4)
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "tiny.yaml", "--sweep", "training.epochs=3,4"), 1,
                    "no folder")
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "no/such/out", "--sweep", "training.epochs=3,4"), 1,
                    "no/such/out")
        self.assertEqual(sorted(os.listdir(self.folder)), ["tiny-sweep", "tiny.yaml"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
