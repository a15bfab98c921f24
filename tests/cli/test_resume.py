#!/usr/bin/env python3
"""Runs that are stopped, killed, or cannot write: what they leave, and that they go on to the same bits."""

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resume"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks", "mpi"))
from arrays import read_safetensors
from commands import DTNN_RUN, CommandTest, limit
from job_processes import descendants, wait_until
from kills import JOBS, Trial, epochs_of, verify_checkpoints


def exchange(a, b):
    """Gives each of two paths the name of the other: at once, where the file system can."""
    CURRENT_FOLDER, EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of <fcntl.h> and <linux/fs.h>
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(CURRENT_FOLDER, os.fsencode(a), CURRENT_FOLDER, os.fsencode(b), EXCHANGE) != 0:
        os.rename(b, b + ".aside")
        os.rename(a, b)
        os.rename(b + ".aside", a)


class Killed(CommandTest):
    """A bounded form of tests/resume/kill_trials.py."""

    def test_killed_runs_end_with_the_bits_of_a_run_without_a_break(self):
        kills = 0
        for name in JOBS:
            trial = Trial(name, self.path(name))
            for number in range(2):
                done, _, _ = trial.interrupted(number, 5, seed=10 * number + len(name))
                kills += done
        self.assertGreater(kills, 6)

    def test_signals_write_a_checkpoint_and_end_with_75(self):
        stopped = 0
        for name, how in (("every_epoch", signal.SIGTERM), ("by_time", signal.SIGUSR1)):
            trial = Trial(name, self.path(name))
            for number in range(2):
                stopped += trial.interrupted(number, 4, seed=number + 1, how=how)[2]
        self.assertGreater(stopped, 3)


class Restarted(CommandTest):
    """--max-restarts with one rank."""

    def child(self, job):
        return wait_until(lambda: descendants(job.pid), 20)[0]

    def newest(self):
        folder = self.path("run/checkpoints")
        return max((int(n) for n in os.listdir(folder) if n.isdigit()), default=None) if os.path.isdir(folder) else None

    def test_a_killed_run_goes_on_by_itself(self):
        plan = self.compile("--set", "training.checkpoint={every_steps: 2}", "--set", "training.epochs=150")
        self.expect(self.dtnn_run(plan, "--output", "whole", "--log-samples", "whole.log"), 0)
        with subprocess.Popen([DTNN_RUN, "--max-restarts", "2", plan, "--output", "run", "--log-samples", "run.log"],
                              cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
            before = -1
            for _ in range(2):
                self.assertTrue(wait_until(lambda: (self.newest() or -1) > before, 60))
                os.kill(self.child(job), signal.SIGKILL)
                time.sleep(0.5)
                before = self.newest()
            told = "".join(job.communicate(timeout=limit(120)))
        self.assertEqual(job.returncode, 0, told)
        self.assertRegex(told, r"restart 1 of 2 in 1 s from the checkpoint of step \d+: the run \(process \d+\) was killed by signal 9")
        self.assertIn("restart 2 of 2", told)
        self.assertEqual(epochs_of(self.path("whole")), epochs_of(self.path("run")))
        self.assertEqual(self.read("run.log"), self.read("whole.log"))
        with open(self.path("whole/weights.safetensors"), "rb") as one, open(self.path("run/weights.safetensors"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_a_run_killed_before_its_first_checkpoint_begins_again_with_its_weights(self):
        plan = self.compile("--set", "training.checkpoint={every_epochs: 0}", "--set", "training.epochs=60")
        self.expect(self.dtnn_run(plan, "--output", "first"), 0)
        self.expect(self.dtnn_run(plan, "--output", "whole", "--weights", "first/weights.safetensors"), 0)
        with subprocess.Popen([DTNN_RUN, "--max-restarts=1", plan, "-o", "run", "--weights=first/weights.safetensors"],
                              cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
            self.assertTrue(wait_until(lambda: os.path.exists(self.path("run/history.jsonl")), 60, pause=0.0005))
            os.kill(self.child(job), signal.SIGKILL)
            told = "".join(job.communicate(timeout=limit(120)))
        self.assertEqual(job.returncode, 0, told)
        self.assertRegex(told, "restart 1 of 1 in 1 s from the (beginning|checkpoint of step 0)")
        with open(self.path("whole/weights.safetensors"), "rb") as one, open(self.path("run/weights.safetensors"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_a_failure_that_stays_is_given_up(self):
        plan = self.compile("--set", "training.checkpoint={every_epochs: 0}")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        before = self.read("run/history.jsonl")
        process = self.expect(self.dtnn_run("--max-restarts", "1", plan, "--output", "run"), 1, "holds a run already",
                              "restart 1 of 1 in 1 s from the beginning: the folder run holds a run already",
                              "given up after 1 restart", "came no further than the beginning")
        self.assertEqual(process.stderr.count("--force"), 2)
        self.assertEqual(self.read("run/history.jsonl"), before)


class Resume(CommandTest):
    def stopped_run(self, *settings, after=1):
        """A run of many epochs that was stopped by a signal after `after` of them: folder `run`, its plan."""
        plan = self.compile("--set", "training.epochs=100000", *settings)
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "run"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + limit(60)
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if sum(e["event"] == "epoch" for e in self.history("run")) >= after:
                    break
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, out + err)
        self.assertIn("dtnn-run --resume run", err)
        return plan

    def names(self, folder="run"):
        return sorted(n for n in os.listdir(self.path(f"{folder}/checkpoints")) if n.isdigit())

    def test_the_history_goes_on_where_the_checkpoint_was(self):
        plan = self.compile("--set", "training.checkpoint={every_steps: 3}", "--set", "training.epochs=6")
        self.expect(self.dtnn_run(plan, "--output", "whole"), 0)
        # As if killed before the newest checkpoint: lines behind the one before it, the last of them not whole.
        shutil.copytree(self.path("whole"), self.path("run"))
        older, newest = self.names()
        shutil.rmtree(self.path(f"run/checkpoints/{newest}"))
        with open(self.path(f"run/checkpoints/{older}/state.json"), encoding="utf-8") as file:
            content = json.load(file)["content"]
        self.assertLess(content["history_bytes"], os.path.getsize(self.path("run/history.jsonl")))
        with open(self.path("run/history.jsonl"), "ab") as file:
            file.write(b'{"event":"epoch","epoch":99,"st')
        process = self.expect(self.dtnn_run("--resume", "run"), 0, f"going on after step {content['step']}")
        self.assertNotIn("warning", process.stderr)
        self.assertEqual(epochs_of(self.path("whole")), epochs_of(self.path("run")))
        events = [e["event"] for e in self.history("run")]
        self.assertEqual(events.count("start"), 1)
        self.assertEqual(events.count("resume"), 1)

    def test_a_finished_run_goes_on_to_its_end(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        with open(self.path("run/weights.safetensors"), "rb") as file:
            weights = file.read()
        os.remove(self.path("run/weights.safetensors"))
        self.expect(self.dtnn_run(plan, "--resume", "run"), 0)
        with open(self.path("run/weights.safetensors"), "rb") as file:
            self.assertEqual(file.read(), weights)

    def test_a_run_with_weights_that_is_killed_at_once_finds_them_again(self):
        plan = self.compile("--set", "training.checkpoint={every_epochs: 0}")
        self.expect(self.dtnn_run(plan, "--output", "first"), 0)
        self.expect(self.dtnn_run(plan, "--output", "whole", "--weights", "first/weights.safetensors"), 0)
        # All that such a run has before its first step: the folder, an empty history, and a checkpoint of step 0.
        shutil.copytree(self.path("whole"), self.path("run"))
        self.assertEqual(self.names("run"), ["0000000000"])
        os.remove(self.path("run/weights.safetensors"))
        self.expect(self.dtnn_run("--resume", "run"), 0)
        with open(self.path("whole/weights.safetensors"), "rb") as one, open(self.path("run/weights.safetensors"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_another_plan_is_refused_with_the_difference(self):
        self.stopped_run()
        other = self.compile("--set", "training.batch_size=32", plan="other.json")
        before = self.read("run/history.jsonl")
        self.expect(self.dtnn_run(other, "--resume", "run"), 5, "not the plan that run began with", "batch 64 -> 32",
                    "--weights")
        # The run's own plan, changed behind its back.
        shutil.copy(other, self.path("run/plan.json"))
        self.expect(self.dtnn_run("--resume", "run"), 5, "of another plan", "help:")
        wide = self.compile("--set", "model.layers.0.conv2d.filters=5", plan="wide.json")
        shutil.copy(wide, self.path("run/plan.json"))
        self.expect(self.dtnn_run("--resume", "run"), 5, "`conv2d_1.weights` is f32 [4,1,3,3] in the checkpoint and f32 "
                    "[5,1,3,3] in the plan")
        self.assertEqual(self.read("run/history.jsonl"), before)

    def test_a_damaged_checkpoint_is_passed_over_with_a_warning(self):
        self.stopped_run("--set", "training.checkpoint={every_steps: 1, keep: 3}", "--set", "training.epochs=40", after=3)
        names = self.names()
        path = self.path(f"run/checkpoints/{names[-1]}/parameters.safetensors")
        with open(path, "r+b") as file:
            file.seek(900)
            byte = file.read(1)
            file.seek(900)
            file.write(bytes([byte[0] ^ 16]))
        self.expect(self.dtnn_run("--resume", "run"), 0, "warning", f"{names[-1]} is damaged",
                    f"going on after step {int(names[-2])}")
        verify = [n for n in os.listdir(self.path("run/checkpoints")) if n.startswith("damaged-")]
        self.assertEqual(verify, [f"damaged-{names[-1]}"])

    def test_best_weights_that_are_gone_do_not_take_the_last_ones_with_them(self):
        # The best is the first epoch, whose loss is the largest.
        plan = self.compile("--set", "training.schedules=[{early_stopping: {metric: loss, direction: maximize, patience: 9, "
                            "restore_best: true}}]")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0, "the weights are those of epoch")
        os.remove(self.path("run/weights.safetensors"))
        best = os.listdir(self.path("run/best/early_stopping"))
        self.assertEqual(len(best), 1)
        with open(self.path(f"run/best/early_stopping/{best[0]}"), "wb") as file:
            file.write(b"lost")
        # As if killed at the end: the training is over, and only its weights are to be written.
        self.expect(self.dtnn_run("--resume", "run"), 1, "the best weights cannot be taken back", best[0],
                    "run/weights.safetensors are those of the last epoch")
        last = self.compile(plan="plain.json")
        self.expect(self.dtnn_run(last, "--output", "plain"), 0)
        tensors = [{name: array.data for name, array in read_safetensors(self.path(f"{run}/weights.safetensors"))[0].items()}
                   for run in ("run", "plain")]
        self.assertEqual(tensors[0], tensors[1])

    def test_a_run_whose_plan_is_gone_goes_on_with_the_plan_given_if_it_is_the_runs(self):
        plan = self.stopped_run("--set", "training.checkpoint={every_steps: 2}", "--set", "training.epochs=30")
        other = self.compile("--set", "training.batch_size=32", plan="other.json")
        kept = self.read("run/plan.json")
        os.remove(self.path("run/plan.json"))
        self.expect(self.dtnn_run("--resume", "run"), 5, "run/plan.json is gone", "dtnn-run PLAN --resume run")
        self.expect(self.dtnn_run(other, "--resume", "run"), 5, "of another plan")
        self.assertFalse(os.path.exists(self.path("run/plan.json")))
        self.expect(self.dtnn_run(plan, "--resume", "run"), 0, "going on after step")
        self.assertEqual(self.read("run/plan.json"), kept)
        # The folder does not say whose plan it is.
        os.remove(self.path("run/plan.json"))
        shutil.rmtree(self.path("run/checkpoints"))
        os.mkdir(self.path("run/checkpoints"))
        self.expect(self.dtnn_run(plan, "--resume", "run"), 5, "run/plan.json is gone", "no checkpoint")

    def test_usage(self):
        plan = self.compile()
        os.makedirs(self.path("empty"), exist_ok=True)
        # As `report` says it.
        for folder in ("nowhere", "empty"):
            self.expect(self.dtnn_run("--resume", folder), 2, f"{folder} is no folder of a run", "help:")
            self.expect(self.dtnn_run(plan, "--resume", folder), 2, f"{folder} is no folder of a run", "help:")
        self.expect(self.dtnn_run("train"), 2, "PLAN", "--resume")
        self.expect(self.dtnn_run(plan, "--resume", "run", "--output", "other"), 2, "--resume")
        self.expect(self.dtnn_run(plan, "--resume", "run", "--force"), 2, "--resume")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        self.expect(self.dtnn_run(plan, "--output", "run"), 1, "--resume", "--force")
        # A new run in the folder has nothing of the old one.
        self.expect(self.dtnn_run(self.compile("--set", "training.epochs=1"), "--output", "run", "--force"), 0)
        self.assertEqual(len(self.names()), 1)

    def test_a_copy_of_the_job_under_another_name_goes_on(self):
        job = ("kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: [flatten, dense: {units: 10}, softmax]}\n"
               "dataset: {type: digits, train_samples: 300, test_samples: 70}\ntraining: {epochs: 2}\n")
        for name in ("a", "b"):
            self.write(name + ".yaml", job)
            self.compile(spec=name + ".yaml", plan=name + ".json")
        self.expect(self.dtnn_run("a.json", "--output", "run"), 0)
        self.expect(self.dtnnc("diff", "a.json", "b.json"), 0, "no difference")
        self.expect(self.dtnn_run("b.json", "--resume", "run"), 0, "its training was over")

    def test_one_process_at_a_time(self):
        plan = self.compile("--set", "training.epochs=100000")
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "run"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + limit(60)
        while time.monotonic() < deadline and process.poll() is None and not os.path.exists(self.path("run/checkpoints/latest")):
            time.sleep(0.02)
        self.expect(self.dtnn_run("--resume", "run"), 1, "another process writes run/history.jsonl")
        process.send_signal(signal.SIGUSR1)
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, out + err)
        self.assertGreater(verify_checkpoints(self.path("run")), 0)


class CannotWrite(CommandTest):
    def whole(self, plan):
        self.expect(self.dtnn_run(plan, "--output", "whole"), 0)
        with open(self.path("whole/weights.safetensors"), "rb") as file:
            return file.read()

    def test_a_full_disk_leaves_the_last_checkpoint_whole(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small file system")
        place = self.path("small")
        os.mkdir(place)
        # Room for the plan, a few checkpoints, and no more once the disk has been filled up.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no small file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", place], check=False))
        plan = self.compile("--set", "training.checkpoint={every_steps: 1, keep: 2}", "--set", "training.epochs=30")
        weights = self.whole(plan)
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "small/run"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.path.exists(self.path("small/run/checkpoints/latest")) and process.poll() is None:
            time.sleep(0.002)
        # Another program takes all the room there is.
        with open(self.path("small/filler"), "wb", buffering=0) as filler:
            try:
                while process.poll() is None:
                    filler.write(bytes(4096))
            except OSError:
                pass
            out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("No space left on device", err)
        self.assertIn("help:", err)
        self.assertGreater(verify_checkpoints(self.path("small/run")), 0)
        left = os.listdir(self.path("small/run/checkpoints"))
        self.assertFalse([n for n in left if n.startswith(".")], left)
        os.remove(self.path("small/filler"))
        self.expect(self.dtnn_run("--resume", "small/run"), 0)
        with open(self.path("small/run/weights.safetensors"), "rb") as file:
            self.assertEqual(file.read(), weights)

    def test_a_file_that_may_not_grow_is_reported_and_the_run_goes_on_later(self):
        plan = self.compile("--set", "training.checkpoint={every_steps: 1, keep: 2}")
        weights = self.whole(plan)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

        self.compile("--set", "training.checkpoint={every_steps: 1, keep: 2}")
        # The plan is larger than the limit, so it is there before; the folder is that of a run that was just begun.
        os.mkdir(self.path("run"))
        shutil.copy(plan, self.path("run/plan.json"))
        process = self.dtnn_run("--resume", "run", preexec_fn=limit)
        self.expect(process, 1, "the checkpoint of step 1 cannot be written", "File too large", "ulimit -f")
        self.assertEqual(os.listdir(self.path("run/checkpoints")), [])
        self.expect(self.dtnn_run("--resume", "run"), 0, "no checkpoint yet")
        with open(self.path("run/weights.safetensors"), "rb") as file:
            self.assertEqual(file.read(), weights)

    def test_a_folder_that_can_only_be_read(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a file system")
        place = self.path("disk")
        os.mkdir(place)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", place], check=False))
        plan = self.compile("--set", "training.checkpoint={every_steps: 2}")
        weights = self.whole(plan)
        self.expect(self.dtnn_run(plan, "--output", "disk/run"), 0)
        os.remove(self.path("disk/run/weights.safetensors"))
        if subprocess.run(["mount", "-o", "remount,ro", place], capture_output=True).returncode != 0:
            self.skipTest("the file system cannot be made read-only")
        self.expect(self.dtnn_run("--resume", "disk/run"), 1, "Read-only file system", "disk/run/history.jsonl", "help:")
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        self.expect(self.dtnn_run("--resume", "disk/run"), 0)
        with open(self.path("disk/run/weights.safetensors"), "rb") as file:
            self.assertEqual(file.read(), weights)

    def test_a_folder_that_vanishes_and_cannot_come_back(self):
        plan = self.compile("--set", "training.epochs=100000", "--set", "training.checkpoint={every_steps: 1}")
        os.mkdir(self.path("place"))
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "place/run"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + limit(60)
        while time.monotonic() < deadline and process.poll() is None and not os.path.exists(self.path("place/run/checkpoints/latest")):
            time.sleep(0.02)
        # At once: the run would make a folder again that is gone for a moment.
        self.write("gone", "a file where the folder was")
        exchange(self.path("place"), self.path("gone"))
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("place/run", err)
        self.assertGreater(verify_checkpoints(self.path("gone/run")), 0)
        self.assertEqual(self.history("gone/run")[-1]["event"], "failed")


class NotANumber(CommandTest):
    def test_operator_layer_and_line_are_named(self):
        plan = self.compile("--set", "training.optimizer={sgd: {learning_rate: 1.0e+30, momentum: 0}}")
        self.expect(self.dtnn_run(plan, "--output", "run"), 6, "the loss is", "epoch 1, step", "repeating steps 1 to",
                    "the first result that was not finite", "tiny.yaml:", "learning rate", "warm_up")
        self.assertEqual(self.history("run")[-1]["event"], "failed")
        process = self.expect(self.dtnn_run(plan, "--output", "checked", "--check-numbers"), 6,
                              "the first result that was not finite", "tiny.yaml:")
        self.assertNotIn("repeating", process.stderr)

    def test_only_the_steps_since_the_checkpoint_are_repeated(self):
        # The rate is raised far beyond what is sound after two epochs of five steps.
        plan = self.compile("--set", "training.optimizer={sgd: {learning_rate: 1.0e+30}}", "--set", "training.epochs=4",
                            "--set", "training.schedules=[{warm_up: {batches: 12, from: 0}}, {polynomial: {power: 1}}]",
                            "--set", "training.checkpoint={every_steps: 1}")
        process = self.expect(self.dtnn_run(plan, "--output", "run"), 6, "the first result that was not finite")
        newest = max(int(n) for n in os.listdir(self.path("run/checkpoints")) if n.isdigit())
        self.assertIn(f"repeating steps {newest + 1} to", process.stderr)

    def test_numbers_that_stay_sound_are_checked_without_a_word(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run", "--check-numbers"), 0)
        self.expect(self.dtnn_run(plan, "--output", "plain"), 0)
        with open(self.path("run/weights.safetensors"), "rb") as one, open(self.path("plain/weights.safetensors"), "rb") as two:
            self.assertEqual(one.read(), two.read())


if __name__ == "__main__":
    unittest.main()
