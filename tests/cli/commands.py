"""Running the two programs as a user does, for the tests beside this file."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
DTNNC = os.path.join(BIN, "dtnnc")
DTNN_RUN = os.path.join(BIN, "dtnn-run")

# A job that trains in well under a second.
TINY = """kind: job
name: tiny
model:
  kind: model
  name: tiny
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 4, kernel: 3, stride: 2, padding: 1}
    - relu
    - flatten
    - dense: {units: 10}
    - softmax
dataset: {kind: dataset, name: few, type: digits, train_samples: 300, test_samples: 70}
training: {kind: training, name: short, optimizer: adam, batch_size: 64, epochs: 2, validation_split: 0.1,
           metrics: [categorical_accuracy]}
"""


def is_there(library):
    """Whether a library that the programs open is beside them."""
    return any(os.path.exists(os.path.join(BIN, folder, library)) for folder in (".", "../lib"))


# MPICH's where it is: it hands signals on to ranks. Open MPI's is told by the environment to start what MPICH's starts: more
# ranks than cores, which keep all cores, by root, too.
MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec.hydra") or "mpiexec"
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_hwloc_base_binding_policy="none")


def why_no_ranks(mpiexec=MPIEXEC):
    """Why this program cannot start ranks here; empty: it can."""
    if not shutil.which(mpiexec):
        return f"{mpiexec} is not there"
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    library = f"libdtnn_{'openmpi' if '(OpenRTE)' in said or '(Open MPI)' in said else 'mpich'}.so"
    return "" if is_there(library) else f"{library} is not there"


SLOWER = float(os.environ.get("DTNN_SLOWER", "1"))
SANITIZED = SLOWER > 1  # sanitizers are in the programs: they take memory and open files of their own


def limit(seconds):
    """The most seconds that a test waits: more where programs are slow."""
    return seconds * SLOWER


def run(*command, cwd=None, env=None, timeout=120, **options):
    """Runs a command and returns the finished process; stdout and stderr are text. Kernels are chosen without the
    times that the user's machine may have."""
    environment = dict(os.environ, NO_COLOR="1", DTNN_TUNING="")
    environment.update(env or {})
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run(command, cwd=cwd, env=environment, text=True, timeout=limit(timeout), **options)


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own, with tiny.yaml in it."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("tiny.yaml", TINY)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def dtnnc(self, *arguments, **options):
        return run(DTNNC, *arguments, cwd=self.folder, **options)

    def dtnn_run(self, *arguments, **options):
        return run(DTNN_RUN, *arguments, cwd=self.folder, **options)

    def expect(self, process, code, *texts):
        """The exit code, and each text in stdout or stderr."""
        everything = process.stdout + process.stderr
        self.assertEqual(process.returncode, code, everything)
        for text in texts:
            self.assertIn(text, everything)
        return process

    def compile(self, *arguments, spec="tiny.yaml", plan="plan.json"):
        self.expect(self.dtnnc("compile", spec, "-o", plan, *arguments), 0)
        return self.path(plan)

    def history(self, folder):
        with open(os.path.join(self.folder, folder, "history.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
