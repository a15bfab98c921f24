#!/usr/bin/env python3
"""Has cuDNN plan every convolution of the zoo for an H100, or an H200, on a machine without either.

    tests/gpu/cudnn_plans.py --cudnn LIBRARY [--all] [--device h200] [--models a,b] [--batches 64] [--computes bf16]
                             [--launches] [--cache FILE]

`bench` runs the programs of a plan over planner/libdtnn_cuda.so: our library over calls of CUDA that compute nothing, and
cuDNN itself, which is given the device's properties in place of a handle (planner/cudnn.cpp). What must hold: every step of
cuDNN gets an engine, so that none falls back to a convolution of ours; no engine adds in no order or rounds what the plan
does not say; the workspace that is booked suffices, because an engine that needs more is not taken. Convolutions in groups
have no engine in 16 bits that gives floats: they may be ours, and are counted. In 16 bits most engines are compiled when they
are asked for, for a second each: with --cache, answers are kept, and what stopped goes on where it was.
"""

import argparse
import collections
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
COMPUTES = ("full", "tf32", "bf16", "fp16")
# cudnnBackendNumericalNote_t and cudnnBackendBehaviorNote_t
NUMERICAL = {0: "tensor cores", 1: "down-converts", 2: "reduced precision", 3: "FFT", 4: "not deterministic", 5: "Winograd",
             6: "Winograd 4x4", 7: "Winograd 6x6", 8: "Winograd 13x13", 9: "keeps NaN"}
REFUSED = {1, 2, 4, 8}
COMPILED = 0  # CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION
# What every run of the tests looks at: in 16 bits many engines are compiled when they are asked for, for a second each.
SOME = (("resnet50", 64, ("tf32",)), ("alexnet", 64, ("tf32",)), ("unet", 4, ("full",)), ("resnet20_cifar10", 128, ("full", "bf16")),
        ("mobilenet_v2", 16, ("bf16",)))


def launches_of(lines):
    """What a captured step puts on the device, by who does it."""
    begin = len(lines) - lines[::-1].index("other cudaStreamBeginCapture")
    end = begin + lines[begin:].index("other cudaStreamEndCapture")
    launches = [line for line in lines[begin:end] if not line.startswith("made")]
    return collections.Counter("cuDNN" if line.startswith(("engine", "runs")) else "cuBLASLt" if line.endswith(" cublasLtMatmul") else "ours"
                               for line in launches)


class Planner:
    def __init__(self, cudnn, folder, device="h100", cache=None):
        self.folder = folder
        library = os.path.dirname(os.path.abspath(cudnn))
        self.environment = dict(os.environ, DTNN_CUDNN=cudnn, DTNN_PLANNED=os.path.join(folder, "planned"), DTNN_CACHE_DIR="",
                                DTNN_DEVICE_PROPERTIES=os.path.join(HERE, "planner", device + ".json"),
                                LD_LIBRARY_PATH=os.path.join(BIN, "planner") + ":" + library)
        if cache:
            self.environment["DTNN_PLANNER_CACHE"] = os.path.abspath(cache)
        self.made, self.compiling, self.launches = 0, 0.0, collections.Counter()

    def run(self, *command):
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def compile(self, path, model, batch, compute):
        return self.run(os.path.join(BIN, "dtnnc"), "compile", model, "--spec-path", "specs", "--target", "cuda", "-o", path,
                        "--set", f"training.compute={compute}", "--set", f"training.batch_size={batch}",
                        "--set", f"dataset.train_samples={batch * 2}")

    def step(self, path, program):
        """What the planner writes of a step of the program (planner/cudnn.cpp), and why there is none."""
        if os.path.exists(self.environment["DTNN_PLANNED"]):
            os.remove(self.environment["DTNN_PLANNED"])
        done = self.run(os.path.join(BIN, "planner", "dtnn-run"), "bench", path, "--steps", "1", "--synthetic-data", "--resident",
                        "--program", program)
        if done.returncode != 0:
            return [], f"dtnn-run ended with {done.returncode}: {done.stderr}"
        if not os.path.exists(self.environment["DTNN_PLANNED"]):
            return [], ""
        with open(self.environment["DTNN_PLANNED"], encoding="utf-8") as file:
            return file.read().splitlines(), ""

    def plan(self, model, batch, compute):
        """How often each engine runs in steps of training and of prediction, and what is wrong with them."""
        path = os.path.join(self.folder, "plan.json")
        done = self.compile(path, model, batch, compute)
        if done.returncode != 0:
            return {}, [f"dtnnc compile: {done.stderr}"]
        with open(path, encoding="utf-8") as file:
            programs = {program["name"]: program["steps"] for program in json.load(file)["programs"]}
        engines, faults = collections.Counter(), []
        for program in ("train", "predict"):
            lines, fault = self.step(path, program)
            if fault:
                faults.append(f"{program}: {fault}")
                continue
            steps = [step["attributes"] for step in programs[program] if "conv" in step["op"] and step["kernel"] == "cudnn"]
            grouped = compute in ("bf16", "fp16") and any(step.get("groups", 1) > 1 for step in steps)
            if program == "train":
                self.launches = launches_of(lines)
            # Of windows of one pixel cuBLASLt makes products.
            if not any(line.startswith(("engine", "own")) for line in lines) and any(step.get("kernel") != [1, 1] for step in steps):
                faults.append(f"{program}: cuDNN was not asked")
            faults += self.read(lines, grouped, engines)
        return engines, faults

    def read(self, lines, grouped, engines):
        faults = []
        for line in lines:
            words = line.split()
            if words[0] == "other":
                continue
            if words[0] == "made":
                self.made += 1
                self.compiling += float(words[3]) / 1000
                continue
            if words[0] == "own":
                if grouped:
                    engines["ours, of convolutions in groups"] += 1
                else:
                    faults.append("a convolution of ours in place of cuDNN's: " + words[1][:160])
                continue
            notes = {int(word) for word in words[words.index("numerical") + 1:words.index("behaviour")]}
            compiled = str(COMPILED) in words[words.index("behaviour") + 1:]
            if notes & REFUSED:
                faults.append(f"engine {words[1]} {', '.join(NUMERICAL[note] for note in notes & REFUSED)}")
            names = " ".join(NUMERICAL.get(note, str(note)) for note in sorted(notes)) or "no tensor cores"
            engines[f"{words[2]:<7} engine {words[1]:>2}, {names}{', compiled when it is asked for' if compiled else ''}"] += 1
        return faults


def missing(library):
    """Why nothing can be planned here; empty: it can."""
    try:
        version = ctypes.CDLL(library).cudnnGetVersion()
    except (OSError, AttributeError) as error:
        return f"{library}: {error}"
    return "" if version >= 91100 else f"cuDNN {version}; from 91100 on devices can be described"


def zoo():
    return sorted(os.path.splitext(os.path.basename(path))[0]
                  for folder in ("published", "pydtnn") for path in glob.glob(os.path.join(ROOT, "specs", "models", folder, "*.yaml")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudnn", required=True, help="libcudnn.so.9")
    parser.add_argument("--device", default="h100", choices=("h100", "h200"))
    parser.add_argument("--all", action="store_true", help="every model, in four types, at two batch sizes")
    parser.add_argument("--models")
    parser.add_argument("--batches", default="8,64")
    parser.add_argument("--computes", default=",".join(COMPUTES))
    parser.add_argument("--launches", action="store_true", help="say how many launches a step of each plan has")
    parser.add_argument("--cache", metavar="FILE", help="keep cuDNN's answers there, and ask for nothing that it has")
    options = parser.parse_args()
    if reason := missing(options.cudnn):
        print(f"skipped: {reason}")
        return 0
    cases = SOME
    if options.all or options.models:
        models = options.models.split(",") if options.models else zoo()
        cases = [(model, int(batch), options.computes.split(",")) for model in models for batch in options.batches.split(",")]
    seen, failed, count, begun = collections.Counter(), 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(options.cudnn, folder, options.device, options.cache)
        for model, batch, computes in cases:
            for compute in computes:
                engines, faults = planner.plan(model, batch, compute)
                for fault in dict.fromkeys(faults):
                    print(f"FAILED {model}, batch {batch}, {compute}: {fault}", flush=True)
                if options.launches:
                    print(f"{model}, batch {batch}, {compute}: {planner.launches.total()} launches a step of training, "
                          + ", ".join(f"{number} of {who}" for who, number in sorted(planner.launches.items())), flush=True)
                failed += bool(faults)
                count += 1
                for engine, number in engines.items():
                    seen[compute, engine] += number
    for (compute, engine), number in sorted(seen.items()):
        print(f"{compute:<5} {number:6} x {engine}")
    print(f"{count} plans for {options.device} in {time.monotonic() - begun:.0f} s, {failed} failed; cuDNN made {planner.made} of "
          f"its own in {planner.compiling:.0f} s")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
