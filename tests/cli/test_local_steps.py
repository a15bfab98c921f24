#!/usr/bin/env python3
"""Ranks that are processes, with data of their own: they train, are refused, stop and go on as docs/parallel.md says.

77: skipped, because there is no MPI here.
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
SKIPPED = 77
JOB = """kind: job
model: {{input: {{shape: [1, 28, 28]}}, layers: [conv2d: {{filters: 2, kernel: 5, stride: 4, bias: false}}, batch_norm, relu, flatten,
        dense: {{units: 10}}, softmax]}}
dataset: {{type: mnist, path: "{folder}/rank_${{rank}}", train_samples: 100, test_samples: 30}}
training: {{optimizer: {{adam: {{learning_rate: 0.01}}}}, batch_size: 8, epochs: {epochs}, metrics: [categorical_accuracy]}}
parallel: {{data: auto, synchronise: {{every: 2, average: wavg, participation: avail2all}}}}
"""

MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec.hydra")
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)


def run(*arguments, **more):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run([os.path.join(BIN, arguments[0]), *arguments[1:]], text=True, capture_output=True, timeout=120,
                          env=environment, check=False, **more)


def write_mnist(folder, seed, train, test):
    numbers = random.Random(seed)
    os.makedirs(folder)
    for prefix, count in (("train", train), ("t10k", test)):
        with open(os.path.join(folder, prefix + "-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">4I", 0x803, count, 28, 28) + numbers.randbytes(count * 784))
        with open(os.path.join(folder, prefix + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">2I", 0x801, count) + bytes(numbers.randrange(10) for _ in range(count)))


def compiled(folder, name, epochs):
    job, plan = os.path.join(folder, name + ".yaml"), os.path.join(folder, name + ".json")
    with open(job, "w", encoding="utf-8") as file:
        file.write(JOB.format(folder=folder, epochs=epochs))
    result = run("dtnnc", "compile", job, "-o", plan)
    check(result.returncode == 0, "compiled before the data is there: " + result.stderr)
    return plan


def weights(folder):
    with open(os.path.join(folder, "weights.safetensors"), "rb") as file:
        return file.read()


def tensors(folder):
    """The weights without what the file says of their plan."""
    data = weights(folder)
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return header, data[8 + size:]


def main():
    if MPIEXEC is None:
        print("skipped: there is no mpiexec of MPICH")
        return SKIPPED
    if not os.path.exists(os.path.join(BIN, "libdtnn_mpich.so")):
        print("skipped: libdtnn_mpich.so was not built")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        plan, long_plan = compiled(folder, "short", 2), compiled(folder, "long", 60)
        for rank, (train, test) in enumerate(((30, 7), (100, 30), (49, 9))):
            write_mnist(os.path.join(folder, f"rank_{rank}"), rank, train, test)

        # 3, 12 and 6 whole batches of 8.
        first = run("dtnn-run", "--ranks", "3", plan, "--output", os.path.join(folder, "one"), "--log-samples",
                    os.path.join(folder, "log"))
        check(first.returncode == 0, "three ranks train: " + first.stderr)
        with open(os.path.join(folder, "one", "history.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        epochs = [event for event in events if event["event"] == "epoch"]
        check([epoch["step"] for epoch in epochs] == [12, 24], "an epoch has the steps of the rank with the most")
        for rank, batches in enumerate((3, 12, 6)):
            with open(os.path.join(folder, f"log.{rank}"), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            taken = [line["samples"] for line in lines if line["epoch"] == 1 and line["samples"]]
            check(len(taken) == batches and all(len(one) == 8 for one in taken), f"rank {rank} takes its whole batches")
            check(len({sample for one in taken for sample in one}) == 8 * batches, f"rank {rank} takes each sample once")
        evaluated = subprocess.run([MPIEXEC, "-n", "3", os.path.join(BIN, "dtnn-run"), "evaluate", plan, "--weights",
                                    os.path.join(folder, "one", "weights.safetensors"), "--format", "json"],
                                   text=True, capture_output=True, timeout=120, check=False,
                                   env=dict(os.environ, OMP_NUM_THREADS="1"))
        check(evaluated.returncode == 0, "the weights are evaluated: " + evaluated.stderr)
        test = json.loads(evaluated.stdout)
        check(test["samples"] == 46, "all ranks' test samples are evaluated")
        ended = next(event for event in events if event["event"] == "evaluate")
        check(test["test"]["categorical_accuracy"] == ended["test"]["categorical_accuracy"], "as at the training's end")
        benched = run("dtnn-run", "bench", plan, "--ranks", "3", "--steps", "3")
        check(benched.returncode == 0, "the steps are measured: " + benched.stderr)

        # The same bits again; stopped by a signal and gone on, too.
        again = run("dtnn-run", "--ranks", "3", plan, "--output", os.path.join(folder, "two"))
        check(again.returncode == 0 and weights(os.path.join(folder, "one")) == weights(os.path.join(folder, "two")),
              "the same ranks make the same bits")
        whole = run("dtnn-run", "--ranks", "3", long_plan, "--output", os.path.join(folder, "whole"))
        check(whole.returncode == 0, "sixty epochs: " + whole.stderr)
        stopped = os.path.join(folder, "stopped")
        process = subprocess.Popen([os.path.join(BIN, "dtnn-run"), "--ranks", "3", long_plan, "--output", stopped],
                                   env=dict(os.environ, OMP_NUM_THREADS="1"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        history = os.path.join(stopped, "history.jsonl")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None and not (
                os.path.exists(history) and os.path.getsize(history) > 300):
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
        check(code in (0, 75), f"a signal stops all: {code}")
        if code == 75:
            refused = run("dtnn-run", "--ranks", "2", "--resume", stopped)
            check(refused.returncode == 5 and "cannot go on" in refused.stderr, "other ranks do not go on: " + refused.stderr)
            gone_on = run("dtnn-run", "--ranks", "3", "--resume", stopped)
            check(gone_on.returncode == 0, "it goes on: " + gone_on.stderr)
        check(weights(stopped) == weights(os.path.join(folder, "whole")), "a run that was stopped ends with the same bits")

        # Two epochs and two more are four, optimizers and all.
        four = run("dtnn-run", "--ranks", "3", compiled(folder, "four", 4), "--output", os.path.join(folder, "whole_four"))
        check(four.returncode == 0, "four epochs: " + four.stderr)
        more = run("dtnn-run", "--ranks", "3", "--resume", os.path.join(folder, "two"), "--epochs", "+2")
        check(more.returncode == 0 and "the same as one training of so many" in more.stderr, "more epochs: " + more.stderr)
        check(tensors(os.path.join(folder, "two")) == tensors(os.path.join(folder, "whole_four")),
              "two epochs and two more are four to the bit")
        refused = run("dtnn-run", "--ranks", "2", "--resume", os.path.join(folder, "two"), "--epochs", "+2")
        check(refused.returncode == 5 and "go on with 3 ranks" in refused.stderr, "of as many ranks: " + refused.stderr)

        # Faults in one rank's data are reported with the rank's name.
        shutil.rmtree(os.path.join(folder, "rank_2"))
        missing = run("dtnn-run", "--ranks", "3", plan, "--output", os.path.join(folder, "three"))
        check(missing.returncode == 1 and "rank 2" in missing.stderr and "rank_2 is not there" in missing.stderr,
              "a folder that is missing: " + missing.stderr)
        write_mnist(os.path.join(folder, "rank_2"), 2, 7, 9)
        few = run("dtnn-run", "--ranks", "3", plan, "--output", os.path.join(folder, "four"))
        check(few.returncode == 5 and "rank 2 has 7 samples to train on, less than a batch of 8" in few.stderr,
              "less than a batch: " + few.stderr)
        dry = run("dtnn-run", "--dry-run", "--ranks", "64", plan)
        check(dry.returncode == 0 and "add up to 1 in every average" in dry.stdout, "the dry run: " + dry.stdout + dry.stderr)
    print("local steps of ranks that are processes:", "failed" if failures else "all is as documented")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
