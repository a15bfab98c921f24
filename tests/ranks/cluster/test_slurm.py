#!/usr/bin/env python3
"""Batch scripts of `dtnnc slurm` under a real Slurm of one machine: stopped in every way that a job of a cluster is,
put back into the queue, and ending with the weights of a run that nothing has stopped.

    test_slurm.py [-v] [NAME ...]      77: skipped, with the reason
"""

import glob
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import slurm

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpi"))
import ranks

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
EPOCHS = 200
MPICH = ranks.FLAVOUR.word == "mpich"
WIRED = () if MPICH else ("--mpi", "pmix")

# Dropout, so that the state of random numbers counts, and momentum; steps of about a millisecond.
JOB = f"""kind: job
name: cluster
threads: 1
parallel: {{data: auto}}
model:
  kind: model
  name: small
  input: {{shape: [1, 28, 28]}}
  layers:
    - conv2d: {{filters: 4, kernel: 3, stride: 2, padding: 1}}
    - relu
    - flatten
    - dropout: {{rate: 0.2}}
    - dense: {{units: 10}}
    - softmax
dataset: {{kind: dataset, name: few, type: digits, train_samples: 330, test_samples: 70}}
training: {{kind: training, name: short, optimizer: {{sgd: {{learning_rate: 0.02, momentum: 0.9}}}}, batch_size: 12,
           epochs: {EPOCHS}, validation_split: 0.1, checkpoint: {{every_epochs: 10}}}}
"""


def state_of(process):
    """Its letter in /proc and the signals that wait for it; none: it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
    except OSError:
        return None
    waiting = int(lines["ShdPnd"], 16) | int(lines["SigPnd"], 16)
    return lines["State"].split()[0], {number for number in range(1, 32) if waiting >> (number - 1) & 1}


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = slurm.Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.folder = os.path.join(cls.cluster.folder, "jobs")
        os.mkdir(cls.folder)
        with open(os.path.join(cls.folder, "job.yaml"), "w", encoding="utf-8") as file:
            file.write(JOB)
        cls.call("dtnnc", "compile", "job.yaml", "-o", "plan.json")

    @classmethod
    def call(cls, program, *words):
        return cls.cluster.run(os.path.join(BIN, program), *words, cwd=cls.folder, timeout=120)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def submit(self, run):
        """A job of two ranks, signalled 20 s before its limit of a minute."""
        self.call("dtnnc", "slurm", "plan.json", "--ranks", "2", "--time", "1", "--signal-before", "20", "--run", run,
                  "-o", run + ".sh", *WIRED)
        self.run_folder = self.path(run)
        self.number = self.cluster.submit(run + ".sh", cwd=self.folder)
        return self.number

    def output(self):
        text = ""
        for name in glob.glob(self.path(f"slurm-{self.number}.out")):
            with open(name, encoding="utf-8", errors="replace") as file:
                text += file.read()
        return text

    def ranks(self):
        """The processes that compute: children of those that Slurm has started."""
        found = []
        for process in self.cluster.left():
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    mine = f"\0SLURM_JOB_ID={self.number}\0".encode() in file.read()
                with open(f"/proc/{process}/comm", encoding="ascii", errors="replace") as file:
                    if mine and file.read().strip() == "dtnn-run":
                        found.append(process)
            except OSError:
                continue
        return found

    def epochs(self):
        try:
            # At once: a run that goes on cuts the file, and what is read in pieces is then of two states.
            with open(os.path.join(self.run_folder, "history.jsonl"), "rb", buffering=0) as file:
                text = file.readall()
            events = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
        except (OSError, ValueError):
            return 0
        return max([event["epoch"] for event in events if event["event"] == "epoch"], default=0)

    def hold_after(self, epochs, seconds=60):
        """Lets the job train so far, then stops its ranks, so that what is sent to them finds them training."""
        end = time.monotonic() + seconds
        while self.epochs() < epochs:
            self.assertLess(time.monotonic(), end, self.output() + self.cluster.logs())
            time.sleep(0.01)
        held = self.ranks()
        for process in held:
            os.kill(process, signal.SIGSTOP)
        self.assertEqual(len(held), 2, self.output())
        while any((state := state_of(process)) and state[0] != "T" for process in held):
            self.assertLess(time.monotonic(), end, "the ranks do not stop")
            time.sleep(0.01)
        self.assertLess(self.epochs(), EPOCHS, "the training was over before it could be stopped")
        return held

    def let_go_at(self, held, sent, seconds):
        """Once the signal waits for every rank (or has come to it, where SIGCONT came with it)."""
        end = time.monotonic() + seconds
        while any((state := state_of(process)) and state[0] == "T" and sent not in state[1] for process in held):
            self.assertLess(time.monotonic(), end, self.output() + self.cluster.logs())
            time.sleep(0.05)
        for process in held:
            try:
                os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def restarted(self, times):
        end = time.monotonic() + 60
        while True:
            job = self.cluster.job(self.number)
            if int(job["Restarts"]) == times and job["JobState"] == "RUNNING":
                return
            self.assertIn(job["JobState"], ("PENDING", "RUNNING", "COMPLETING", "REQUEUED"), self.output())
            self.assertLess(time.monotonic(), end, self.output() + self.cluster.logs())
            time.sleep(0.1)

    def test_a_job_that_is_stopped_three_times_ends_as_one_that_is_not(self):
        self.call("dtnn-run", "train", "--ranks", "2", "plan.json", "--output", "whole")
        job = self.submit("stopped")

        held = self.hold_after(20)
        self.cluster.run("scancel", "--batch", "--signal=USR1", str(job))
        self.let_go_at(held, signal.SIGUSR1, 20)
        self.restarted(1)

        # A job of more importance takes the node: TERM to the ranks alone, and a minute's grace.
        held = self.hold_after(50)
        with open(self.path("urgent.sh"), "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\nsleep 1\n")
        urgent = self.cluster.submit("urgent.sh", "--partition=high", "--ntasks=8", cwd=self.folder)
        self.let_go_at(held, signal.SIGTERM, 40)
        self.cluster.wait_for(urgent, ("COMPLETED",), 30)
        self.restarted(2)

        # The time limit comes near; Slurm looks for that every half minute.
        held = self.hold_after(80)
        self.let_go_at(held, signal.SIGUSR1, 60)
        self.restarted(3)

        ended = self.cluster.wait_for(job, ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"), 90)
        said = self.output()
        self.assertEqual((ended["JobState"], ended["ExitCode"]), ("COMPLETED", "0:0"), said)
        self.assertEqual(said.count("back into the queue"), 3, said)
        self.assertEqual(said.count("going on after step"), 3, said)
        weights = []
        for run in ("whole", "stopped"):
            with open(self.path(run, "weights.safetensors"), "rb") as file:
                weights.append(file.read())
        self.assertGreater(len(weights[0]), 4 * 7000)
        self.assertEqual(weights[0], weights[1], "the weights differ")

    def test_a_cancelled_job_leaves_a_checkpoint_and_stays_away(self):
        job = self.submit("cancelled")
        held = self.hold_after(5)
        self.cluster.run("scancel", str(job))
        self.let_go_at(held, signal.SIGTERM, 20)
        ended = self.cluster.wait_for(job, ("CANCELLED",), 40)
        self.assertEqual(ended["Restarts"], "0")
        self.assertIn("stopped by a signal after step", self.output())
        self.assertTrue(glob.glob(os.path.join(self.run_folder, "checkpoints", "*")))
        time.sleep(1)
        self.assertEqual(self.cluster.job(job)["JobState"], "CANCELLED")

    def test_ranks_by_pmix_meet_or_are_refused(self):
        known = self.cluster.run("srun", "--mpi=list", check=False)
        if "pmix" not in known.stdout + known.stderr:
            self.skipTest("this Slurm has no plugin for PMIx")
        self.call("dtnnc", "slurm", "plan.json", "--ranks", "2", "--time", "2", "--signal-before", "20", "--run", "pmix",
                  "-o", "pmix.sh", "--mpi", "pmix")
        self.number = self.cluster.submit("pmix.sh", cwd=self.folder)
        ended = self.cluster.wait_for(self.number, ("COMPLETED", "FAILED", "TIMEOUT"), 120)
        said = self.output()
        if "can not load PMIx library" in said:
            self.skipTest("this Slurm's plugin finds no libpmix.so (Debian: libpmix-dev)")
        if not os.path.exists(os.path.join(BIN, "libdtnn_openmpi.so")):
            # Debian's MPICH does not know PMIx: each of its ranks would train alone.
            self.assertEqual((ended["JobState"], ended["ExitCode"]), ("FAILED", "2:0"), said)
            self.assertIn("srun by PMIx has started 2 ranks, and MPICH finds 1", said)
            self.assertIn("srun --mpi=pmi2", said)
            self.assertFalse(os.path.exists(self.path("pmix")))
        else:
            self.assertEqual((ended["JobState"], ended["ExitCode"]), ("COMPLETED", "0:0"), said)
            self.assertIn("2 ranks", said)
            self.assertTrue(os.path.exists(self.path("pmix", "weights.safetensors")))

    def test_a_rank_that_dies_is_started_again_inside_the_allocation(self):
        self.call("dtnnc", "slurm", "plan.json", "--ranks", "2", "--time", "2", "--signal-before", "20", "--run", "again",
                  "-o", "again.sh", "--restarts", "2", *WIRED)
        self.run_folder = self.path("again")
        self.number = self.cluster.submit("again.sh", cwd=self.folder)
        held = self.hold_after(12)
        for process in held:
            os.kill(process, signal.SIGCONT)
        os.kill(held[1], signal.SIGKILL)
        ended = self.cluster.wait_for(self.number, ("COMPLETED", "FAILED"), 90)
        said = self.output()
        self.assertEqual((ended["JobState"], ended["ExitCode"], ended["Restarts"]), ("COMPLETED", "0:0", "0"), said)
        self.assertIn("restart, 2 left", said)
        self.assertIn("going on after step", said)

    def test_a_rank_that_dies_takes_the_job_down(self):
        job = self.submit("died")
        held = self.hold_after(5)
        for process in held:
            os.kill(process, signal.SIGCONT)
        started = time.monotonic()
        os.kill(held[1], signal.SIGKILL)
        # By PMIx nobody can tell srun to end the others at once: it asks, and kills after KillWait.
        bound = 10 if MPICH else slurm.KILL_WAIT + 15
        ended = self.cluster.wait_for(job, ("FAILED",), bound + 5)
        self.assertLess(time.monotonic() - started, bound)
        self.assertEqual(ended["Restarts"], "0")
        self.assertRegex(self.output(), r"rank [01] \(.*, process \d+\) was killed by signal 9")


def why_not():
    if reason := slurm.reason_for_none():
        return reason
    return ranks.FLAVOUR.why_not()


if __name__ == "__main__":
    if reason := why_not():
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
