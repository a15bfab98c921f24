"""Kills training runs and lets them go on, until they are done: the weights must be those of a run that was never stopped.

`Trial` is one job; `tests/resume/kill_trials.py` and `tests/cli/test_resume.py` use it.
"""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import DTNN_RUN, DTNNC

MODEL = """model:
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
"""

# Together: dropout, batch norm, augmentation, accumulation, averages, a plateau, both optimizers' states, a tail, and every
# reason for a checkpoint.
JOBS = {
    "every_step": """kind: job
name: every_step
threads: 1
""" + MODEL + """dataset: {kind: dataset, name: few, type: digits, train_samples: 330, test_samples: 70,
          augmentations: [flip, {random_crop: {padding: 3}}]}
training: {kind: training, name: short, optimizer: {sgd: {learning_rate: 0.05, momentum: 0.9}}, batch_size: 16, epochs: 10,
           validation_split: 0.1, accumulation: 3, average: {decay: 0.9}, metrics: [categorical_accuracy, f1],
           schedules: [{reduce_on_plateau: {patience: 0, factor: 0.5, threshold: 0.05}}, {warm_up: {batches: 20}}],
           checkpoint: {every_steps: 1, keep: 3}}
""",
    "every_epoch": """kind: job
name: every_epoch
threads: 2
data_workers: 2
""" + MODEL + """dataset: {kind: dataset, name: few, type: digits, train_samples: 500, test_samples: 70,
          augmentations: [flip, {random_crop: {padding: 2}}]}
training: {kind: training, name: short, optimizer: adam, batch_size: 24, epochs: 14, validation_split: 0.2,
           average: {decay: 0.95}, metrics: [categorical_accuracy, confusion_matrix],
           schedules: [{one_cycle: {}}, {early_stopping: {metric: validation.loss, patience: 4, restore_best: true}},
                       {model_checkpoint: {metric: validation.categorical_accuracy, keep: 2}}],
           checkpoint: {every_epochs: 1, keep: 2}}
""",
    "by_time": """kind: job
name: by_time
threads: 1
""" + MODEL + """dataset: {kind: dataset, name: few, type: digits, train_samples: 400, test_samples: 70,
          augmentations: [flip, {random_crop: {padding: 4}}]}
training: {kind: training, name: short, optimizer: {adam: {learning_rate: 0.003}}, batch_size: 20, epochs: 12,
           validation_split: 0.1, accumulation: 4, clip: {norm: 1.0}, metrics: [categorical_accuracy],
           schedules: [{reduce_on_plateau: {patience: 1, factor: 0.7}}, {cosine: {}}],
           checkpoint: {every_epochs: 0, every_seconds: 0.01, keep: 2}}
""",
}


def read_tensors(path):
    """The header of a safetensors file, after its layout has been verified: contiguous, and as long as the file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    widths = {"F32": 4, "F64": 8, "I32": 4, "I64": 8, "U8": 1}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        elements = 1
        for extent in entry["shape"]:
            elements *= extent
        assert begin == end and stop - begin == elements * widths[entry["dtype"]], f"{path}: {name}"
        end = stop
    assert 8 + length + end == size, f"{path} has {size} bytes, not {8 + length + end}"
    return header


def verify_checkpoints(run):
    """Whatever bears the name of a step is whole; how many there are."""
    folder = os.path.join(run, "checkpoints")
    names = [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.isdigit()]
    for name in names:
        path = os.path.join(folder, name)
        with open(os.path.join(path, "state.json"), encoding="utf-8") as file:
            content = json.load(file)["content"]
        assert content["step"] == int(name), f"{path} is of step {content['step']}"
        header = read_tensors(os.path.join(path, "parameters.safetensors"))
        assert any(entry["dtype"] == "F32" for entry in header.values()), path
    assert not any(name.startswith("damaged") for name in (os.listdir(folder) if os.path.isdir(folder) else []))
    latest = os.path.join(folder, "latest")
    if names and os.path.exists(latest):
        with open(latest, encoding="utf-8") as file:
            assert file.read().strip().isdigit()
    return len(names)


def half_written(run):
    """Whether the last process was killed while it wrote a checkpoint, or removed one."""
    folder = os.path.join(run, "checkpoints")
    return os.path.isdir(folder) and any(name.startswith(".writing-") for name in os.listdir(folder))


def epochs_of(run):
    """What the history says of every epoch, but for times."""
    epochs = []
    with open(os.path.join(run, "history.jsonl"), encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event["event"] in ("epoch", "evaluate", "stopped", "restored"):
                epochs.append({k: v for k, v in event.items() if k not in ("samples_per_second", "seconds")})
    return epochs


class Trial:
    """A job that is trained once without a break, in `folder`, and then as often as one likes with kills."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.half_written = 0  # kills that hit the writing of a checkpoint
        os.makedirs(folder, exist_ok=True)
        spec, self.plan = os.path.join(folder, name + ".yaml"), os.path.join(folder, name + ".json")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(JOBS[name])
        subprocess.run([DTNNC, "compile", spec, "-o", self.plan], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.whole = os.path.join(folder, name + "-whole")
        begin = time.monotonic()
        self.start(self.whole, resume=False).check()
        self.seconds = time.monotonic() - begin

    def start(self, run, resume):
        arguments = ["--resume", run] if resume else [self.plan, "--output", run]
        return Process([DTNN_RUN, *arguments, "--progress", "none"])

    def files(self, run):
        """Names of what a run ends with, and their bytes."""
        found = {}
        for path in ("weights.safetensors", "weights_average.safetensors"):
            if os.path.exists(os.path.join(run, path)):
                with open(os.path.join(run, path), "rb") as file:
                    found[path] = file.read()
        best = os.path.join(run, "best")
        for folder, _, names in os.walk(best):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.relpath(os.path.join(folder, name), run)] = file.read()
        return found

    def interrupted(self, number, kills, seed, how=signal.SIGKILL):
        """Runs the job with up to `kills` kills at random moments; how many there were. Raises when anything differs."""
        chance = random.Random(seed)
        run = os.path.join(self.folder, f"{self.name}-{number}")
        done = checkpoints = stopped = 0
        while True:
            process = self.start(run, resume=done > 0 and os.path.exists(os.path.join(run, "plan.json")))
            if done < kills:
                # Soon enough that most runs are hit, and often while a checkpoint is being written.
                process.kill_after(chance.uniform(0.003, max(0.05, 0.4 * self.seconds)), how)
            code, errors = process.wait()
            checkpoints = max(checkpoints, verify_checkpoints(run))
            self.half_written += half_written(run)
            assert "damaged" not in errors and "internal" not in errors, errors
            if code == 0:
                break
            stopped += code == 75
            done += 1
            assert code in (-how, 75) if how != signal.SIGKILL else code == -how, f"exit {code}: {errors}"
        expected, got = self.files(self.whole), self.files(run)
        assert sorted(expected) == sorted(got), f"{sorted(expected)} != {sorted(got)}"
        for name, content in expected.items():
            assert content == got[name], f"{run}/{name} is not that of the run without a break, after {done} kills (seed {seed})"
        assert epochs_of(self.whole) == epochs_of(run), f"the history of {run} differs (seed {seed})"
        return done, checkpoints, stopped


class Process:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def kill_after(self, seconds, how):
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.send_signal(how)

    def wait(self):
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, errors

    def check(self):
        code, errors = self.wait()
        assert code == 0, f"exit {code}: {errors}"
