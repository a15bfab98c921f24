#!/usr/bin/env python3
"""Federated averaging over ranks must reach its accuracy on the test split.

    test_federated.py digits      four ranks that share the embedded digits, at least 95 %
    test_federated.py [DIR]       MNIST by label: each of four ranks has two or three digits only; at least 95 %. DIR, or
                                   DTNN_MNIST, is the folder of MNIST's four files; nothing of it is kept.

77: skipped, without MPI or without the files.
"""

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, ROOT, SANITIZED

SKIPPED = 77
BAR = 0.95
# Sanitizers look at every access: they see in a few steps what they see in all.
BRIEF = ["training.epochs=1", "dataset.sample_percentage=5"] if SANITIZED else []
LABELS = ((0, 1, 2), (3, 4), (5, 6), (7, 8, 9))  # of each rank
SIDE = 28


def why_not():
    if not (shutil.which("mpiexec.mpich") or shutil.which("mpiexec.hydra")):
        return "there is no mpiexec of MPICH"
    if not os.path.exists(os.path.join(BIN, "libdtnn_mpich.so")):
        return "libdtnn_mpich.so was not built: MPICH was not found"
    return ""


def contents(folder, name):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        with open(path, "rb") as file:
            return file.read()
    with gzip.open(path + ".gz", "rb") as file:
        return file.read()


def split_by_label(source, folder):
    """rank_0, rank_1 ... with the files of MNIST, each with the samples of its labels; how many each trains on."""
    counts = []
    for rank, labels in enumerate(LABELS):
        own = os.path.join(folder, f"rank_{rank}")
        os.mkdir(own)
        for prefix in ("train", "t10k"):
            names = (f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte")
            images, classes = (contents(source, name) for name in names)
            images, classes = images[16:], classes[8:]
            kept = [i for i, label in enumerate(classes) if label in labels]
            with open(os.path.join(own, names[0]), "wb") as file:
                file.write(struct.pack(">4I", 0x803, len(kept), SIDE, SIDE))
                for i in kept:
                    file.write(images[i * SIDE * SIDE:(i + 1) * SIDE * SIDE])
            with open(os.path.join(own, names[1]), "wb") as file:
                file.write(struct.pack(">2I", 0x801, len(kept)) + bytes(classes[i] for i in kept))
            if prefix == "train":
                counts.append(len(kept))
    return counts


def train(folder, job, settings):
    """The accuracy on the test split, and over how many samples."""
    plan, output = os.path.join(folder, "plan.json"), os.path.join(folder, "run")
    arguments = [argument for setting in settings + BRIEF for argument in ("--set", setting)]
    subprocess.run([os.path.join(BIN, "dtnnc"), "compile", os.path.join(ROOT, "specs", "jobs", job), "-o", plan] + arguments,
                   check=True)
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    subprocess.run([os.path.join(BIN, "dtnn-run"), "--ranks", "4", plan, "--output", output, "--progress", "plain"],
                   check=True, env=environment)
    with open(os.path.join(output, "history.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    return next(e for e in events if e["event"] == "evaluate")["test"]["categorical_accuracy"]


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DTNN_MNIST", "")
    reason = why_not() or ("" if which else "DTNN_MNIST does not name the folder of MNIST's four files")
    if reason:
        print("skipped: " + reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if which == "digits":
            settings = ["parallel={data: auto, synchronise: {every: 8, participation: avail2all}}", "training.batch_size=16"]
            reached = train(folder, "digits_simplecnn.yaml", settings)
        else:
            print("samples of the ranks:", split_by_label(which, folder))
            reached = train(folder, "mnist_federated.yaml", ["dataset.path=" + os.path.join(folder, "rank_${rank}")])
    print(f"{100 * reached:.2f} % on the test split; the bar is {100 * BAR:.1f} %")
    if SANITIZED:
        print("skipped: what is learnt; under sanitizers few steps are made")
        return 0
    return 0 if reached >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
