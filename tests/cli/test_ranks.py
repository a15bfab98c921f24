"""Trainings on several ranks, started by mpiexec: the same losses and samples as on one, and runs that go on."""

import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks", "mpi"))
from commands import DTNNC, DTNN_RUN, MPIEXEC, CommandTest, limit, run, why_no_ranks
from job_processes import launcher_of, ranks_of, wait_until

MISSING = why_no_ranks()

JOB = """kind: job
name: ranks
threads: 1
parallel: {data: auto}
model:
  kind: model
  name: small
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 4, kernel: 3, stride: 2, padding: 1}
    - relu
    - flatten
    - dense: {units: 10}
    - softmax
dataset: {kind: dataset, name: few, type: digits, train_samples: 330, test_samples: 70}
training: {kind: training, name: short, optimizer: {sgd: {learning_rate: 0.1, momentum: 0.9}}, batch_size: 12, epochs: 4,
           validation_split: 0.1, metrics: [categorical_accuracy], checkpoint: {every_steps: 3}}
"""
NORMED = JOB.replace("    - relu\n", "    - batch_norm\n    - relu\n")


class Ranks(CommandTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("ranks.yaml", JOB)

    def compile_job(self, plan, *settings):
        arguments = [word for setting in settings for word in ("--set", setting)]
        done = run(DTNNC, "compile", self.job, *arguments, "-o", self.path(plan))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(plan)

    def train(self, ranks, output, *words, expected=0):
        done = run(MPIEXEC, "-n", str(ranks), DTNN_RUN, *words, *(["--output", self.path(output)] if output else []),
                   "--progress", "plain", cwd=self.folder)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done

    def events(self, output, kind):
        with open(os.path.join(self.path(output), "history.jsonl"), encoding="utf-8") as file:
            return [event for event in map(json.loads, file) if event["event"] == kind]

    def losses(self, output):
        epochs = self.events(output, "epoch")
        return [epoch[part]["loss"] for epoch in epochs for part in ("train", "validation")]

    def curve(self, output):
        return [loss for epoch in self.events(output, "epoch") for loss in epoch["steps"]["loss"]]

    def samples(self, name):
        steps = {}
        for path in [self.path(name)] if os.path.exists(self.path(name)) else glob.glob(self.path(name) + ".*"):
            with open(path, encoding="utf-8") as file:
                for line in map(json.loads, file):
                    steps.setdefault(line["step"], []).extend(line["samples"])
        return {step: sorted(samples) for step, samples in steps.items()}

    def bytes(self, output):
        with open(os.path.join(self.path(output), "weights.safetensors"), "rb") as file:
            return file.read()

    def check_same(self, bound, *settings):
        one = self.compile_job("one.json", "training.batch_size=12", *settings)
        self.train(1, "one", one, "--log-samples", self.path("log"))
        expected, samples = self.losses("one"), self.samples("log")
        self.assertEqual(len(expected), 8)
        for ranks in (2, 3, 4):  # 297 samples: the last step is of 9
            plan = self.compile_job(f"p{ranks}.json", f"training.batch_size={12 // ranks}", *settings)
            self.train(ranks, f"r{ranks}", plan, "--log-samples", self.path(f"log{ranks}"))
            self.assertEqual(self.samples(f"log{ranks}"), samples)
            self.assertEqual(self.events(f"r{ranks}", "start")[0]["ranks"], ranks)
            for told, least in ((self.losses, bound), (self.curve, 10 * bound)):  # of few steps
                for a, b in zip(told("one"), told(f"r{ranks}"), strict=True):
                    self.assertLessEqual(abs(a - b), least * abs(a), f"{ranks} ranks")

    def test_losses_and_samples_are_those_of_one_rank(self):
        self.check_same(3e-5)  # after 100 steps in float

    def test_in_double_precision(self):
        self.check_same(1e-12, "training.dtype=f64")

    def test_blocking(self):
        self.check_same(1e-12, "training.dtype=f64", "parallel.reduction=blocking")

    def test_a_global_batch_that_other_ranks_share(self):
        def plan_for(ranks, batch=24, data="auto"):
            name = self.path(f"g{ranks}-{batch}.json")
            done = run(DTNNC, "compile", self.job, "--ranks", str(ranks), "--set", f"parallel.data={data}", "--set",
                       f"training.global_batch_size={batch}", "--set", "training.dtype=f64", "-o", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            return name

        four = plan_for(4, data="4")
        self.train(4, "whole", four)
        kept = sorted(os.listdir(os.path.join(self.path("whole"), "checkpoints")))
        self.assertIn("latest", kept)

        def back(name):
            """A copy of the run as it stood at the checkpoint before its last, within an epoch."""
            shutil.copytree(self.path("whole"), self.path(name))
            with open(os.path.join(self.path(name), "checkpoints", "latest"), "w", encoding="utf-8") as file:
                file.write(kept[0] + "\n")
            shutil.rmtree(os.path.join(self.path(name), "checkpoints", kept[1]))
            return self.path(name)

        for ranks in (1, 2, 3):
            plan = plan_for(ranks)
            done = run(DTNNC, "diff", four, plan, "--format", "json")
            self.assertFalse(json.loads(done.stdout)["changes_the_mathematics"], done.stdout)
            self.train(ranks, "", plan, "--resume", back(f"on{ranks}"), "--keep-global-batch")
            self.assertEqual(self.events(f"on{ranks}", "resume")[0]["ranks"], ranks)
            for told in (self.losses, self.curve):
                for a, b in zip(told("whole"), told(f"on{ranks}"), strict=True):
                    self.assertLessEqual(abs(a - b), 1e-12 * abs(a), f"{ranks} ranks")
        # Another global batch is refused, whatever is said.
        other = plan_for(2, 12)
        done = run(DTNNC, "diff", four, other, "--format", "json")
        self.assertTrue(json.loads(done.stdout)["changes_the_mathematics"], done.stdout)
        self.assertIn("24", self.train(1, "", plan_for(1, 12), "--resume", back("no1"), expected=5).stderr)
        # A plan for any ranks goes on with half of it, and says so; asked to keep it, it refuses.
        any_ranks = self.compile_job("any.json", "training.batch_size=6", "training.dtype=f64")
        self.train(4, "any", any_ranks)
        for name in ("half", "kept"):
            shutil.copytree(self.path("any"), self.path(name))
        self.assertIn("global batches of 12", self.train(2, "", "--resume", self.path("half")).stderr)
        done = self.train(2, "", "--resume", self.path("kept"), "--keep-global-batch", expected=5)
        self.assertIn("4 ranks of 6, global batches of 24 samples", done.stderr)
        self.assertIn("--ranks 2 --set training.global_batch_size=24", done.stderr)
        self.train(2, "", plan_for(2), "--resume", self.path("kept"), "--keep-global-batch")

    def test_accumulation(self):
        self.check_same(1e-12, "training.dtype=f64", "training.accumulation=2")

    def test_synchronised_statistics(self):
        self.job = self.write("normed.yaml", NORMED)
        self.check_same(1e-12, "training.dtype=f64", "parallel.batch_statistics=synchronised")
        plain = self.compile_job("plain.json", "training.dtype=f64", "training.batch_size=12")
        self.train(1, "plain", plain)
        for a, b in zip(self.losses("plain"), self.losses("one"), strict=True):
            self.assertLessEqual(abs(a - b), 1e-12 * abs(a))
        plan = self.compile_job("local.json", "training.dtype=f64", "training.batch_size=4")
        self.train(3, "local", plan)
        self.assertGreater(abs(self.losses("local")[0] - self.losses("plain")[0]), 1e-6)

    def test_same_ranks_make_the_same_bits(self):
        plan = self.compile_job("p.json", "training.batch_size=4")
        self.train(3, "a", plan)
        self.train(3, "b", plan)
        self.assertEqual(self.bytes("a"), self.bytes("b"))
        self.assertEqual(self.losses("a"), self.losses("b"))

    def start(self, ranks, output, plan, sent=signal.SIGTERM):
        # mpiexec by itself may lose the ranks' code after a signal; --ranks would see its own SIGKILL before the ranks do.
        launcher = [MPIEXEC, "-n", str(ranks), DTNN_RUN] if sent == signal.SIGKILL else [DTNN_RUN, "--ranks", str(ranks)]
        return subprocess.Popen([*launcher, plan, "--output", self.path(output), "--progress", "none"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def wait_for_checkpoint(self, output):
        folder = os.path.join(self.path(output), "checkpoints")
        for _ in range(600):
            if os.path.exists(os.path.join(folder, "latest")):
                return
            time.sleep(0.02)
        self.fail("no checkpoint was written")

    def test_a_signal_stops_all_and_a_killed_job_goes_on(self):
        self.check_goes_on()

    def test_a_signal_at_any_moment_of_the_start_ends_all(self):
        # What a shell starts in the background ignores SIGINT, and hands that on to programs until they say otherwise.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=2000")
        moments = [0.003, 0.006, 0.009, 0.012, 0.015, 0.018, 0.021, 0.025, 0.03, 0.05, 0.1, 0.2]
        # DTNN_SIGNAL_TRIALS=2000 python3 tests/cli/test_ranks.py Ranks.test_a_signal_at_any_moment_of_the_start_ends_all
        moments += [random.uniform(0, 0.1) for _ in range(int(os.environ.get("DTNN_SIGNAL_TRIALS", "0")))]
        for i, moment in enumerate(moments):
            sent = (signal.SIGTERM, signal.SIGINT)[i % 2]
            job = self.start(3, f"r{i}", plan)
            time.sleep(moment)
            job.send_signal(sent)
            begun = time.monotonic()
            _, told = job.communicate(timeout=limit(30))
            self.assertLess(time.monotonic() - begun, limit(10), f"after {moment} s: {told}")
            # A process that has not come to main yet dies of the signal, and has started nobody.
            self.assertIn(job.returncode, (75, -sent), told)
            left = subprocess.run(["ps", "-o", "args=", "--sid", str(job.pid)], capture_output=True, text=True, check=False)
            self.assertEqual(left.stdout, "", f"after {moment} s")
            shutil.rmtree(self.path(f"r{i}"), ignore_errors=True)

    def test_synchronised_statistics_go_on(self):
        self.job = self.write("normed.yaml", NORMED)
        self.check_goes_on("parallel.batch_statistics=synchronised")

    def check_goes_on(self, *settings):
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=20", *settings)
        self.train(2, "whole", plan)
        for sent, expected in ((signal.SIGTERM, 75), (signal.SIGKILL, None)):
            name = sent.name
            job = self.start(2, name, plan, sent)
            self.wait_for_checkpoint(name)
            if sent == signal.SIGTERM:
                job.send_signal(sent)
            else:
                os.killpg(job.pid, sent)
            _, told = job.communicate(timeout=limit(60))
            if expected is not None:
                self.assertEqual(job.returncode, expected, told)
            time.sleep(0.5)  # the ranks of a killed mpiexec notice
            self.train(2, "", "--resume", self.path(name))
            self.assertEqual(self.bytes(name), self.bytes("whole"), name)
            self.assertEqual(self.losses(name), self.losses("whole"), name)

    def test_refusals_are_printed_once(self):
        plan = self.write("no.json", "{}")
        done = self.train(3, "r", plan, expected=5)
        self.assertEqual(done.stderr.count("is refused"), 1, done.stderr)

    def test_the_work_of_one_process_is_refused_to_many(self):
        weights = self.write("w.safetensors", "")
        done = run(MPIEXEC, "-n", "2", DTNN_RUN, "weights", "list", weights, cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("`weights` is the work of one process, and 2 were started"), 1, done.stderr)

    def test_a_plan_on_standard_input_is_for_one_process(self):
        done = run(MPIEXEC, "-n", "2", DTNN_RUN, "-", "--output", "r", cwd=self.folder, input="{}")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("a plan on standard input is for one process, and 2 were started"), 1, done.stderr)
        self.assertFalse(os.path.exists(self.path("r")))

    def test_other_ranks_go_on_from_a_checkpoint(self):
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=20")
        job = self.start(2, "r", plan)
        self.wait_for_checkpoint("r")
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(timeout=limit(60)), 75)
        job.stderr.close()
        done = run(MPIEXEC, "-n", "1", DTNN_RUN, "--resume", self.path("r"), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 2 ranks of 4, global batches of 8 samples; this run has 1 rank of 4, global batches of 4", done.stderr)
        epochs = self.events("r", "epoch")
        self.assertEqual(len(epochs), 20)
        # However many steps an epoch has by how many ranks, its curve goes on where the one before ended.
        steps = [step for epoch in epochs for step in epoch["steps"]["step"]]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertGreater(steps[0], 0)
        self.assertEqual([epoch["steps"]["step"][-1] for epoch in epochs], [epoch["step"] for epoch in epochs])

    def checkpoints(self, output):
        folder = os.path.join(self.path(output), "checkpoints")
        return sorted(int(name) for name in os.listdir(folder) if name.isdigit()) if os.path.isdir(folder) else []

    def restarted(self, output, plan, kills, *words, most=3):
        """A job of two ranks with restarts; after each newer checkpoint one of `kills` (rank 0, 1; -1: mpiexec) is killed."""
        command = [DTNN_RUN, "--ranks", "2", "--max-restarts", str(most), plan, "--output", self.path(output), "--progress",
                   "none", *words]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
            seen = 0
            for rank in kills:
                newest = wait_until(lambda: next((s for s in self.checkpoints(output) if s > seen), None) or job.poll(), 60)
                self.assertIsNone(job.poll(), "the job has ended early")
                pid = wait_until(lambda: ranks_of(job.pid).get(rank), 20) if rank >= 0 else launcher_of(job.pid)
                os.kill(pid, signal.SIGKILL)
                # Checkpoints that the dying ranks may still have written are no progress of the next try.
                time.sleep(0.7)
                seen = max(self.checkpoints(output) + [newest])
            told = "".join(job.communicate(timeout=limit(120)))
        return job.returncode, told

    def test_a_killed_rank_is_started_again(self):
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=40")
        self.train(2, "whole", plan, "--log-samples", self.path("whole-log"))
        code, told = self.restarted("r", plan, (1, 0, -1), "--log-samples", self.path("log"))
        self.assertEqual(code, 0, told)
        self.assertRegex(told, r"restart 1 of 3 in 1 s from the checkpoint of step \d+: rank 1 \([^)]*\) was killed by signal 9")
        self.assertRegex(told, r"restart 2 of 3 in 1 s from the checkpoint of step \d+: rank 0 \([^)]*\) was killed by signal 9")
        self.assertRegex(told, r"restart 3 of 3 in 1 s from the checkpoint of step \d+: mpiexec \([^)]*\) was killed by signal 9")
        self.assertEqual(self.bytes("r"), self.bytes("whole"))
        self.assertEqual(self.losses("r"), self.losses("whole"))
        self.assertEqual([len(self.events("r", kind)) for kind in ("start", "resume", "failed")], [1, 3, 0])
        # Each step once, in order, in each rank's file.
        self.assertEqual(self.samples("log"), self.samples("whole-log"))
        for rank in (0, 1):
            self.assertEqual(self.read(f"log.{rank}"), self.read(f"whole-log.{rank}"))

    def test_restarts_end(self):
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=400")
        code, told = self.restarted("r", plan, (1, 1), most=1)
        self.assertEqual(code, 1, told)
        self.assertRegex(told, r"given up after 1 restart: rank 1 \([^)]*\) was killed by signal 9 \(Killed\); the last try came to "
                               r"the checkpoint of step \d+")

    def test_what_another_try_does_not_mend_is_not_started_again(self):
        diverging = self.compile_job("p.json", "training.optimizer={sgd: {learning_rate: 1e30}}")
        wrong = self.write("wrong.json", "{}")
        for plan, expected in ((diverging, 6), (wrong, 5)):
            done = run(DTNN_RUN, "--ranks", "2", "--max-restarts", "3", plan, "--output", self.path("r"), cwd=self.folder)
            self.assertEqual(done.returncode, expected, done.stderr)
            self.assertNotIn("restart", done.stderr)
        done = run(MPIEXEC, "-n", "2", DTNN_RUN, "--max-restarts", "1", plan, cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("start the ranks with --ranks", done.stderr)

    def test_a_signal_ends_the_restarts(self):
        plan = self.compile_job("p.json", "training.batch_size=4", "training.epochs=4000")
        command = [DTNN_RUN, "--ranks", "2", "--max-restarts", "3", plan, "--progress", "none", "--output"]
        for moment in ("training", "waiting"):
            with subprocess.Popen([*command, self.path(moment)], cwd=self.folder, stderr=subprocess.PIPE, text=True) as job:
                self.wait_for_checkpoint(moment)
                if moment == "waiting":
                    os.kill(wait_until(lambda: ranks_of(job.pid).get(1), 20), signal.SIGKILL)
                    while "restart 1 of 3" not in job.stderr.readline():
                        self.assertIsNone(job.poll())
                job.send_signal(signal.SIGTERM)
                _, told = job.communicate(timeout=limit(60))
            self.assertEqual(job.returncode, 75, told)
            self.assertNotIn("restart 2", told)


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: {MISSING}")
        sys.exit(77)
    unittest.main()
