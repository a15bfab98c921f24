"""Gradients that travel between ranks in fewer bytes: jobs started by mpiexec, stopped and resumed, and what is said of them."""

import glob
import json
import os
import re
import shutil
import unittest

from commands import DTNNC, DTNN_RUN, MPIEXEC, CommandTest, run
from test_ranks import JOB, MISSING  # which knows where tests/ranks/mpi is
import ranks as jobs

FORMS = {"bf16": "wire: bf16", "fp16": "wire: fp16", "top_k": "wire: top_k, density: 0.05"}


class Wire(CommandTest):
    def compiled(self, name, parallel, *words):
        text = JOB.replace("parallel: {data: auto}", "parallel: {data: auto, bucket_size: 4KiB%s}" % parallel)
        self.write(name + ".yaml", text.replace("epochs: 4", "epochs: 3").replace("every_steps: 3", "every_epochs: 1"))
        done = run(DTNNC, "compile", self.path(name + ".yaml"), *words, "-o", self.path(name + ".json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name + ".json")

    def test_the_forms_in_summary_plan_and_forecast(self):
        full = self.compiled("full", "", "--ranks", "4")
        figures = {}
        for name, parallel in {"full": "", **FORMS}.items():
            plan = self.compiled(name, ", " + parallel if parallel else "", "--ranks", "4")
            summary = run(DTNNC, "summary", plan)
            self.assertEqual(summary.returncode, 0, summary.stderr)
            self.assertEqual("changes the mathematics" in summary.stdout, name != "full", summary.stdout)
            machine = json.loads(run(DTNNC, "summary", plan, "--format", "json").stdout)["parallel"]
            self.assertEqual(machine.get("wire", "full"), name)
            forecast = run(DTNNC, "forecast", plan, "--machine", "cluster_100g", "--ranks", "4", "--format", "json")
            self.assertEqual(forecast.returncode, 0, forecast.stderr)
            figures[name] = machine["wire_bytes"]
            dry = run(DTNN_RUN, "--dry-run", "--ranks", "64", plan)
            self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertEqual(figures["bf16"] * 2, figures["full"])
        self.assertLess(figures["fp16"], 0.51 * figures["full"])
        diff = run(DTNNC, "diff", full, self.path("bf16.json"))
        line = next(line for line in diff.stdout.splitlines() if re.search(r"\bwire\b", line))
        self.assertIn("math", line.lower() + diff.stdout.lower())

    def test_what_cannot_be_is_refused(self):
        for parallel, words, said in (("wire: bf16", ["--set", "training.dtype=f64"], "f64"),
                                      ("wire: fp16, optimizer: sharded, data: 2", [], "sharded"),
                                      ("wire: fp16, synchronise: {every: 2}", [], "synchronise"),
                                      ("wire: bf16, density: 0.1", [], "top_k"),
                                      ("wire: top_k, density: 0", [], "density"),
                                      ("wire: top_k, density: 1.5", [], "density"),
                                      ("wire: bf8", [], "bf16")):
            data = "" if "data" in parallel else "data: auto, "
            self.write("bad.yaml", JOB.replace("parallel: {data: auto}", "parallel: {%s%s}" % (data, parallel)))
            done = run(DTNNC, "compile", self.path("bad.yaml"), *words, "-o", self.path("bad.json"))
            self.assertEqual(done.returncode, 3, parallel + done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn("bad.yaml:4:", done.stderr)

    def train(self, ranks, output, *words, expected=0):
        target = ["--output", self.path(output)] if output else []
        done = run(MPIEXEC, "-n", str(ranks), DTNN_RUN, *words, *target, "--progress", "plain", cwd=self.folder)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done

    @unittest.skipIf(jobs.why_not(), jobs.why_not())
    def test_faults_in_every_form(self):
        for trial in ((3, "stop", 1, "bf16", "in"), (3, "sleep", 2, "top_k", "in"), (2, "kill", 1, "fp16", "in"),
                      (3, "kill", 0, "top_k", "in"), (4, "stop", 3, "top_k", "before")):
            with self.subTest(trial=trial):
                self.assertEqual(jobs.fault_trial(*trial), [])

    def weights(self, output):
        with open(os.path.join(self.path(output), "weights.safetensors"), "rb") as file:
            return file.read()

    def lose_newest(self, output):
        steps = sorted(glob.glob(self.path(output) + "/checkpoints/0*"))
        self.assertGreaterEqual(len(steps), 2)
        shutil.rmtree(steps[-1])

    @unittest.skipIf(MISSING, MISSING)
    def test_the_same_bits_twice_and_after_a_stop(self):
        for name, parallel in FORMS.items():
            with self.subTest(form=name):
                plan = self.compiled(name, ", " + parallel)
                self.train(3, name + "_a", plan)
                self.train(3, name + "_b", plan)
                first = self.weights(name + "_a")
                self.assertEqual(first, self.weights(name + "_b"))
                # From the checkpoint before the last: what all ranks owe is in it.
                self.lose_newest(name + "_b")
                self.train(3, "", "--resume", self.path(name + "_b"))
                self.assertEqual(first, self.weights(name + "_b"))

    @unittest.skipIf(MISSING, MISSING)
    def test_other_ranks_go_on_from_what_is_owed(self):
        plan = self.compiled("top_k", ", " + FORMS["top_k"])
        self.train(4, "run", plan)
        for ranks in (1, 2, 4):
            self.lose_newest("run")
            self.train(ranks, "", "--resume", self.path("run"))


if __name__ == "__main__":
    unittest.main()
