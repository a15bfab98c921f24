#!/usr/bin/env python3
"""Trainings of several ranks in which something goes wrong at a random moment:

    tests/ranks/mpi/test_job_faults.py [N] [SEED]
    tests/ranks/mpi/test_job_faults.py --bounded

A rank is killed (also while a checkpoint is written) or stopped (SIGSTOP); one has another plan, batch size, data set or
version of the program, or another command or flags; what starts or watches the ranks is stopped or killed; a disk is full, on rank 0 or on another; ranks of a job with --max-restarts die. Of each job: it ends within the limit, with the code that
docs/launching.md says, names the right rank, leaves no process behind, and goes on by --resume to the same bits as the run
without a break. Ends with 1 if anything else happens, with 77 where there is no MPI; a failed trial is repeated by its seed:
test_job_faults.py 1 SEED. --bounded: each kind once, for the tests."""

import collections
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ranks as jobs
from job_processes import launchers_of, marked, ranks_of, watchers_of, wait_until

DTNN_RUN, DTNNC = (os.path.join(jobs.BIN, name) for name in ("dtnn-run", "dtnnc"))
TIMEOUT = 3  # seconds that the plans let a rank wait for the others
# Seconds that the busiest machine may add: ranks that share cores wait for each other.
SLACK = 5.0
REFUSED_WITHIN = 2.0  # seconds after all ranks have started
HANG = 90.0
STOPPED_LIMIT = 10.0  # seconds that dtnn-run lets a launcher be stopped (start_job.cpp)
DEATH_BOUND = jobs.DEATH_BOUND

JOB = """kind: job
name: faults
threads: 1
parallel: {data: auto, timeout: %d}
model:
  kind: model
  name: small
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 6, kernel: 3, stride: 2, padding: 1}
    - batch_norm
    - relu
    - dropout: {rate: 0.3}
    - flatten
    - dense: {units: 10}
    - softmax
dataset: {kind: dataset, name: few, type: digits, train_samples: 330, test_samples: 70,
          augmentations: [{random_crop: {padding: 2}}]}
training: {kind: training, name: short, optimizer: {sgd: {learning_rate: 0.05, momentum: 0.9}}, batch_size: 6, epochs: 40,
           validation_split: 0.1, metrics: [categorical_accuracy], average: {decay: 0.9},
           schedules: [{reduce_on_plateau: {patience: 2, factor: 0.7}}], checkpoint: {every_steps: 5, keep: 2}}
""" % TIMEOUT

TABLE = """kind: job
name: table
threads: 1
parallel: {data: auto, timeout: %d}
model: {kind: model, name: line, input: {shape: [3, 1, 1]}, layers: [flatten, {dense: {units: 2}}, softmax]}
dataset: {kind: dataset, name: table, type: csv, path: train.csv, test_path: test.csv, shape: [3, 1, 1], classes: 2, header: false,
          train_samples: 40, test_samples: 40}
training: {kind: training, name: short, optimizer: adam, batch_size: 4, epochs: 2}
""" % TIMEOUT

LAUNCHERS = ("stopped launcher", "killed watcher", "killed watcher of a stopped rank", "launcher gone")
KINDS = ("kill", "kill in a checkpoint", "stop", "plan", "batch", "dataset", "version", "full disk of rank 0", "full disk of a rank",
         "restarts", "command", "flags", *LAUNCHERS)
KILLS = KINDS[:2]


def compile_job(spec, plan, *settings):
    arguments = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([DTNNC, "compile", spec, *arguments, "-o", plan], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return plan


def other_version(folder):
    """The program with another version in it, in a folder of its own: two places hold the text."""
    with open(DTNN_RUN, "rb") as file:
        content = file.read()
    version = subprocess.run([DTNN_RUN, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    head = version.encode()[:4]
    other = bytes([head[0] + 5]) + head[1:]
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "dtnn-run")
    with open(program, "wb") as file:
        file.write(content.replace(head, other))
    os.chmod(program, 0o755)
    for place, flavour in itertools.product((".", "../lib"), jobs.FLAVOURS):
        library = os.path.join(jobs.BIN, place, flavour.library)
        if os.path.exists(library):
            shutil.copy(library, folder)
    return program


class Bench:
    """The plans, and for each number of ranks the weights of the run without a break."""

    def __init__(self, folder):
        self.folder, self.whole, self.skipped = folder, {}, collections.Counter()
        spec = self.write("job.yaml", JOB)
        self.plan = compile_job(spec, self.path("plan.json"))
        self.others = {"plan": compile_job(spec, self.path("seed.json"), "training.seed=7"),
                       "batch": compile_job(spec, self.path("batch.json"), "training.batch_size=8")}
        rows = "".join(f"{i % 5},{i % 3},{i % 7},{i % 2}\n" for i in range(40))
        self.tables = []
        for name, text in (("here", rows), ("there", rows.replace("0,0,0,0\n", "0,0,1,0\n", 1))):
            os.makedirs(self.path(name))
            for file in ("train.csv", "test.csv"):
                self.write(os.path.join(name, file), text)
            self.tables.append(self.path(name))
        self.table = compile_job(self.write("table.yaml", TABLE), self.path("table.json"))
        self.version = other_version(self.path("other-version"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def whole_run(self, ranks):
        """(weights, seconds)"""
        if ranks not in self.whole:
            output = self.path(f"whole-{ranks}")
            begin = time.monotonic()
            job = Training(self, ranks, [self.plan, "--output", output], output)
            job.finish()
            if job.code != 0:
                raise RuntimeError(f"the run without a break ends with {job.code}: {job.output}")
            self.whole[ranks] = (weights_of(output), time.monotonic() - begin)
        return self.whole[ranks]


def weights_of(run):
    content = []
    for name in ("weights.safetensors", "weights_average.safetensors"):
        with open(os.path.join(run, name), "rb") as file:
            content.append(file.read())
    return content


class Training:
    """A job that has been started; `odd` is a rank that runs another command."""

    def __init__(self, bench, ranks, words, mark, odd=None, command=None, own=False, folders=None):
        self.ranks, self.mark, self.all_started, self.begin = ranks, mark, None, time.monotonic()
        words = [*words, "--progress", "none"]
        if odd is not None:
            script = 'if [ "$PMI_RANK" = "%d" ]; then cd "$1"; shift 2; exec "$ODD_PROGRAM" $ODD_WORDS; fi; cd "$2"; shift 2; exec "$@"' % odd
            here, there = folders or (bench.folder, bench.folder)
            start = [*jobs.launcher(ranks), "sh", "-c", script, "sh", there, here, DTNN_RUN, *words]
            more = [] if "bench" in command else ["--output", mark, "--progress", "none"]
            environment = {"ODD_PROGRAM": command[0], "ODD_WORDS": " ".join([*command[1:], *more])}
        else:
            start = [DTNN_RUN, "--ranks", str(ranks)] if own else [*jobs.launcher(ranks), DTNN_RUN]
            start, environment = [*start, *words], {}
        with tempfile.TemporaryFile("w+") as self.file:
            self.process = subprocess.Popen(start, stdin=subprocess.DEVNULL, stdout=self.file, stderr=subprocess.STDOUT,
                                            env=dict(jobs.ENVIRONMENT, **environment), cwd=bench.folder)
            self.file = os.fdopen(os.dup(self.file.fileno()), "r+", errors="replace")

    def started(self):
        """The ranks' processes, once all are there."""
        def look():
            found = ranks_of(self.process.pid)
            if len(found) == self.ranks:
                return found
            return {-1: 0} if self.process.poll() is not None else None
        found = wait_until(look, HANG, pause=0.002) or {}
        if len(found) == self.ranks and -1 not in found:
            self.all_started = time.monotonic()
            return found
        return None

    def finish(self, limit=HANG):
        try:
            self.code = self.process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            self.code = "hangs"
            # hydra's proxies, and with them the ranks, end when mpiexec does.
            self.process.kill()
            self.process.wait()
        self.end = time.monotonic()
        self.file.seek(0)
        self.output = self.file.read()
        self.file.close()
        # Whatever names the run's folder: watching parents, ranks.
        self.left = wait_until(lambda: not marked(self.mark), DEATH_BOUND) or marked(self.mark)
        return self.code


class Trial:
    def __init__(self, bench, seed, kind=None):
        self.bench, self.draw, self.seed = bench, random.Random(seed), seed
        self.kind = kind or self.draw.choice(KINDS + KILLS)
        self.ranks = self.draw.choice((2, 3, 4))
        self.rank = self.draw.randrange(self.ranks)
        self.output = bench.path(f"run-{seed}-{self.kind.replace(' ', '-')}")
        self.faults, self.told, self.seconds = [], "", 0.0

    def expect(self, job, code, bound, since, *patterns):
        self.seconds = job.end - since
        if job.code != code:
            self.faults.append(f"exit code {job.code}, not {code}")
        if self.seconds > bound:
            self.faults.append(f"took {self.seconds:.1f} s, not at most {bound}")
        self.faults += [f"says nowhere {pattern!r}" for pattern in patterns if not re.search(pattern, job.output)]
        if job.left is not True:
            self.faults.append(f"left behind: {job.left}")
        self.told = job.output

    def goes_on(self):
        """--resume, or the job again where it had not begun, to the weights of the run without a break."""
        whole, _ = self.bench.whole_run(self.ranks)
        begun = os.path.exists(os.path.join(self.output, "plan.json"))
        words = ["--resume", self.output] if begun else [self.bench.plan, "--output", self.output]
        job = Training(self.bench, self.ranks, words, self.output, own=True)
        if job.finish() != 0:
            self.faults.append(f"--resume ends with {job.code}: {job.output}")
        elif weights_of(self.output) != whole:
            self.faults.append("the weights are not those of the run without a break")

    def checkpoint_being_written(self):
        folder = os.path.join(self.output, "checkpoints")
        try:
            return any(name.startswith(".writing-") for name in os.listdir(folder))
        except OSError:
            return False

    def has_checkpoint(self):
        return os.path.exists(os.path.join(self.output, "checkpoints", "latest"))

    def kill_or_stop(self):
        _, seconds = self.bench.whole_run(self.ranks)
        for attempt in range(6):
            shutil.rmtree(self.output, ignore_errors=True)
            job = Training(self.bench, self.ranks, [self.bench.plan, "--output", self.output], self.output, own=self.draw.random() < 0.5)
            found = job.started()
            # Soon enough, even where the machine is less busy than it was.
            wait = self.draw.uniform(0, 0.6 * seconds / (1 + attempt))
            if self.kind != "kill":
                wait_until(lambda: self.has_checkpoint() or job.process.poll() is not None, HANG)
                wait /= 2
            wait_until(lambda: job.process.poll() is not None, wait)
            if self.kind == "kill in a checkpoint":
                if self.draw.random() < 0.7:
                    self.rank = 0
                wait_until(lambda: self.checkpoint_being_written() or job.process.poll() is not None, HANG, pause=0)
            now = time.monotonic()
            try:
                os.kill(found[self.rank], signal.SIGSTOP if self.kind == "stop" else signal.SIGKILL)
            except (ProcessLookupError, TypeError):
                pass
            job.finish()
            # Over before it was hit: not what was to be tried.
            if job.code != 0:
                break
        if self.kind == "stop":
            self.expect(job, 1, TIMEOUT + jobs.ROLL_CALL + DEATH_BOUND, now,
                        rf"rank \d+: waited {TIMEOUT} s in \w+ number \d+ `[^`]*` for rank {self.rank} \([^)]*\), which does not answer")
        else:
            self.expect(job, 1, DEATH_BOUND, now, rf"rank {self.rank} \([^)]*\) was killed by signal 9")
        self.goes_on()

    def restarted(self):
        """Two ranks die, or one is stopped and one dies, and the job gets over it by itself."""
        whole, seconds = self.bench.whole_run(self.ranks)
        job = Training(self.bench, self.ranks, ["--max-restarts", "2", self.bench.plan, "--output", self.output], self.output, own=True)
        said = []
        for number in (1, 2):
            found = job.started()
            # Before all have joined they wait longer for each other.
            stop = number == 1 and self.draw.random() < 0.3
            if stop:
                wait_until(lambda: self.has_checkpoint() or job.process.poll() is not None, HANG)
            wait_until(lambda: job.process.poll() is not None, self.draw.uniform(0, (0.2 if stop else 0.4) * seconds))
            self.rank = self.draw.randrange(self.ranks)
            try:
                os.kill(found[self.rank], signal.SIGSTOP if stop else signal.SIGKILL)
            except (ProcessLookupError, TypeError):
                break
            said.append(rf"restart {number} of 2 in \d+ s from [^:]*: " +
                        (rf"rank \d+ \([^)]*\): .*waited {TIMEOUT} s in .* for rank {self.rank} \(" if stop else
                         rf"rank {self.rank} \([^)]*\) was killed by signal 9"))
            # Those of the restart are others.
            wait_until(lambda: not any(os.path.exists(f"/proc/{process}") for process in found.values()), DEATH_BOUND)
        job.finish()
        self.expect(job, 0, HANG, job.begin, *said)
        if job.code == 0 and weights_of(self.output) != whole:
            self.faults.append("the weights are not those of the run without a break")

    def refused(self):
        plan, program, folders, fact = self.bench.plan, DTNN_RUN, None, "plan checksum"
        other = self.bench.others.get(self.kind, plan)
        words = []
        if self.kind == "command":
            words, fact = ["bench"], "the command `bench`"
        if self.kind == "flags":
            words, fact = ["train", "--check-numbers"], "the command `train --check-numbers`"
        if self.kind == "version":
            program, fact = self.bench.version, "version of dtnn-run"
        if self.kind == "dataset":
            plan = other = self.bench.table
            folders, fact = self.bench.tables, "hash of the dataset"
        if self.ranks == 2:
            self.rank = 1  # of two halves the one with rank 0 is right
        value = "" if words else r" \S+"
        job = Training(self.bench, self.ranks, [plan, "--output", self.output], self.output, self.rank, [program, *words, other], folders=folders)
        job.started()
        job.finish()
        self.expect(job, 5, REFUSED_WITHIN, job.all_started or job.begin,
                    rf"the ranks of the job differ: rank {self.rank} \([^)]*process \d+\) has {fact}{value}; ")
        if os.path.exists(self.output):
            self.faults.append("the refused job has made the run's folder")

    def launcher(self):
        """mpiexec, its proxy or a parent that watches a rank is stopped or killed, one of them perhaps with a stopped rank below it."""
        stopped, gone = self.kind == "stopped launcher", self.kind == "launcher gone"
        _, seconds = self.bench.whole_run(self.ranks)
        job = Training(self.bench, self.ranks, [self.bench.plan, "--output", self.output], self.output, own=not gone)
        found = job.started()
        wait_until(lambda: self.has_checkpoint() or job.process.poll() is not None, HANG)
        wait_until(lambda: job.process.poll() is not None, self.draw.uniform(0, 0.2 * seconds))
        watchers = watchers_of(job.process.pid)
        now = time.monotonic()
        if stopped:
            victims = launchers_of(job.process.pid) + [watchers.get(self.rank)]
            os.kill(self.draw.choice(victims), signal.SIGSTOP)
        elif gone:
            os.kill(found[self.rank], signal.SIGSTOP)
            os.kill(job.process.pid, signal.SIGKILL)
        else:
            if self.kind == "killed watcher of a stopped rank":
                os.kill(found[self.rank], signal.SIGSTOP)
            os.kill(watchers[self.rank], signal.SIGKILL)
        job.finish()
        if stopped:
            # The ranks may have come to the end without it.
            self.expect(job, 0 if job.code == 0 else 1, STOPPED_LIMIT + DEATH_BOUND, now,
                        r"(mpiexec\S*|hydra_pmi_proxy|dtnn-run-watch) \(process \d+\) is between .* has been stopped for [\d.]+ s: the job is ended")
        elif gone:
            self.expect(job, -signal.SIGKILL, DEATH_BOUND, now)
        else:
            self.expect(job, 1, DEATH_BOUND, now,
                        rf"the process {watchers[self.rank]} that watched rank {self.rank} \(process {found[self.rank]}\) was killed")
        if job.code == 0:
            if weights_of(self.output) != self.bench.whole_run(self.ranks)[0]:
                self.faults.append("the weights are not those of the run without a break")
        else:
            self.goes_on()

    def full_disk_of_first(self):
        if os.geteuid() != 0:
            return "a small file system needs root"
        disk = self.output + "-disk"
        os.makedirs(disk)
        size = self.draw.randrange(100, 400)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], stderr=subprocess.PIPE, text=True, check=False)
        if mounted.returncode != 0:
            return f"no small file system can be mounted: {mounted.stderr.strip()}"
        try:
            self.output = os.path.join(disk, "run")
            # The history and the kept checkpoints fit at first; something else fills the disk while the job runs.
            job = Training(self.bench, self.ranks, [self.bench.plan, "--output", self.output], self.output)
            job.started()
            wait_until(lambda: self.has_checkpoint() or job.process.poll() is not None, HANG)
            now = time.monotonic()
            try:
                with open(os.path.join(disk, "other"), "wb") as file:
                    file.write(b"x" * 1024 * size)
            except OSError:
                pass
            job.finish()
            self.expect(job, 1, DEATH_BOUND + SLACK, now, r"rank 0 \([^)]*\): .*cannot be written|rank 0 \([^)]*\): cannot write",
                        "No space left on device|the disk is full")
            subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
            self.goes_on()
        finally:
            subprocess.run(["umount", "-l", disk], check=False)
        return ""

    def full_disk_of_other(self):
        log = self.bench.path(f"log-{self.seed}")
        self.rank = self.draw.randrange(1, self.ranks)
        os.symlink("/dev/full", f"{log}.{self.rank}")
        job = Training(self.bench, self.ranks, [self.bench.plan, "--output", self.output, "--log-samples", log], self.output)
        job.started()
        job.finish()
        self.expect(job, 1, DEATH_BOUND + SLACK, job.all_started or job.begin,
                    rf"rank {self.rank} \([^)]*\): .*{re.escape(log)}\.{self.rank}", "No space left on device|the disk is full")
        self.goes_on()

    def run(self):
        """Why it was skipped; empty: it was not."""
        if self.kind in KILLS or self.kind == "stop":
            self.kill_or_stop()
        elif self.kind in LAUNCHERS:
            self.launcher()
        elif self.kind == "restarts":
            self.restarted()
        elif self.kind == "full disk of rank 0":
            return self.full_disk_of_first()
        elif self.kind == "full disk of a rank":
            self.full_disk_of_other()
        else:
            self.refused()
        shutil.rmtree(self.output, ignore_errors=True)
        return ""


def main():
    reason = jobs.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    bounded = sys.argv[1:2] == ["--bounded"]
    if bounded:
        plans = [(seed, kind) for seed, kind in enumerate(KINDS, 1)]
    else:
        number = int(sys.argv[1]) if len(sys.argv) > 1 else 60
        first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
        plans = [(seed, None) for seed in range(first, first + number)]
    done, bad, skipped, longest = collections.Counter(), 0, collections.Counter(), collections.defaultdict(float)
    with tempfile.TemporaryDirectory(prefix="dtnn-job-faults-") as folder:
        bench = Bench(folder)
        for seed, kind in plans:
            trial = Trial(bench, seed, kind)
            why = trial.run()
            if why:
                skipped[f"{trial.kind}: {why}"] += 1
                print(f"{seed}: {trial.kind}: skipped: {why}", flush=True)
                continue
            done[trial.kind] += 1
            longest[trial.kind] = max(longest[trial.kind], trial.seconds)
            bad += bool(trial.faults)
            print(f"{seed}: {trial.kind}, rank {trial.rank} of {trial.ranks}: {'FAULT' if trial.faults else 'ok'}, "
                  f"{trial.seconds:.1f} s", flush=True)
            if trial.faults:
                print("\n".join(trial.faults), f"--- the job said\n{trial.told}---", sep="\n", flush=True)
    for kind, number in sorted(done.items()):
        print(f"{kind}: {number}, over after at most {longest[kind]:.1f} s")
    for why, number in skipped.items():
        print(f"skipped {number}: {why}")
    print(f"{sum(done.values())} trials, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
