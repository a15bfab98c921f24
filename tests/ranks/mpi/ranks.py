"""Jobs of several ranks that go wrong, for the tests and trials beside this file."""

import os
import random
import re
import shutil
import subprocess
import time
from typing import NamedTuple

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
PROGRAM = os.path.join(BIN, "rank_program")
LIMIT = 1.0  # seconds that a rank waits for the others
ROLL_CALL = 1.0  # seconds that ranks are given to say how far they are
# MPICH leaves memory behind at its end, which is no finding of ours.
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
DEATH_BOUND = 10.0  # a job whose rank has died ends within this
# How much longer everything may take where programs are slow, as those with sanitizers in them.
SLOWER = float(os.environ.get("DTNN_SLOWER", "1"))
KINDS = ("all_reduce", "all_gather", "broadcast", "barrier", "reduce_scatter", "all_gather_parts")
MOMENTS = ("before", "in", "after")


class Flavour(NamedTuple):
    word: str  # as DTNN_MPI has it
    name: str
    library: str
    mpiexecs: tuple
    options: tuple  # that let it start as many ranks as asked for, by any user

    def mpiexec(self):
        return next(filter(None, map(shutil.which, self.mpiexecs)), None)

    def launcher(self, ranks):
        """The words that start so many ranks on this machine, however many cores it has."""
        return [self.mpiexec(), "-n", str(ranks), *self.options]

    def why_not(self):
        """Why no ranks can be started by it here; empty: they can."""
        if not os.path.exists(os.path.join(BIN, self.library)):
            return f"{self.library} was not built: {self.name} was not found (Debian: libmpich-dev, libopenmpi-dev)"
        return "" if self.mpiexec() else f"there is no mpiexec of {self.name} (Debian: mpich, openmpi-bin)"


FLAVOURS = (Flavour("mpich", "MPICH", "libdtnn_mpich.so", ("mpiexec.mpich", "mpiexec.hydra"), ()),
            Flavour("openmpi", "Open MPI", "libdtnn_openmpi.so", ("mpiexec.openmpi", "mpirun.openmpi"),
                    ("--oversubscribe", "--bind-to", "none", "--allow-run-as-root")))
# The one that DTNN_MPI asks for, else the first that serves: the program's own choice.
FLAVOUR = next((one for one in FLAVOURS if one.word == os.environ.get("DTNN_MPI")), None) or next(
    (one for one in FLAVOURS if not one.why_not()), FLAVOURS[0])
launcher = FLAVOUR.launcher


def why_not():
    """Why no ranks can be started here; empty: they can."""
    if not os.path.exists(PROGRAM):
        return "rank_program was not built: no MPI was found (Debian: apt-get install libmpich-dev)"
    return FLAVOUR.why_not()


class Job:
    """What became of a job."""

    def __init__(self, ranks, *words, timeout=60, command=None, env=None):
        """`command` is what starts it, in place of mpiexec and the program."""
        start = time.monotonic()
        command = command or [*launcher(ranks), PROGRAM]
        # A job that hangs ends with its whole process group, and is told from one that failed.
        process = subprocess.Popen([*command, *map(str, words)], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env=dict(ENVIRONMENT, **(env or {})))
        try:
            self.output, _ = process.communicate(timeout=timeout * SLOWER)
            self.code = process.returncode
        except subprocess.TimeoutExpired:
            # hydra's proxies, and with them the ranks, end when mpiexec does.
            process.kill()
            self.output, _ = process.communicate()
            self.code = "hangs"
        self.seconds = time.monotonic() - start
        self.words = (ranks, *words)

    def faults(self, code, bound, *patterns):
        found = []
        if self.code != code:
            found.append(f"exit code {self.code}, not {code}")
        if self.seconds > bound * SLOWER:
            found.append(f"took {self.seconds:.1f} s, not at most {bound * SLOWER}")
        for pattern in patterns:
            if not re.search(pattern, self.output):
                found.append(f"says nowhere {pattern!r}")
        return [f"{self.words}: {fault}\n{self.output}" for fault in found]


def fault_trial(ranks, fault, rank, kind, moment):
    """One rank is killed, stopped or sleeps: what is wrong with the job's end."""
    job = Job(ranks, fault, rank, kind, moment, LIMIT)
    if fault == "kill":
        return job.faults(1, DEATH_BOUND, rf"rank {rank} \([^)]*\) was killed by signal 9")
    # Joining, starting and ending take seconds where ranks share cores; a second more where rank 0 cannot say who reports.
    bound = DEATH_BOUND + LIMIT + 2 * ROLL_CALL
    if moment == "join":
        return job.faults(1, bound, r"rank \d+ \([^)]*\) waited 1 s for the other ranks to start")
    faults = job.faults(1, bound, rf"rank \d+: waited 1 s in \w+ number \d+ `[^`]*` for rank {rank} \(")
    said = job.output.count(": waited 1 s in ")
    return faults + ([f"{said} ranks report it, not one\n{job.output}"] if said != 1 else [])


def random_trial(seed):
    """A trial drawn from the seed: (its words, what is wrong)."""
    draw = random.Random(seed)
    ranks = draw.choice((2, 3, 4))
    fault = draw.choice(("kill", "kill", "stop", "sleep"))
    moment = draw.choice(MOMENTS + ("join",))
    words = (ranks, fault, draw.randrange(ranks), draw.choice(KINDS), moment)
    return words, fault_trial(*words)
