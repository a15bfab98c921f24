"""Ranks that are processes: what they exchange, and how a job ends when one of them goes wrong."""

import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import ranks as jobs
from ranks import Job


class RanksTest(unittest.TestCase):
    def expect(self, job, code, bound, *patterns):
        self.assertEqual(job.faults(code, bound, *patterns), [])

    def test_operations(self):
        for ranks in (1, 2, 3, 4):
            self.expect(Job(ranks, "operations"), 0, 60, f"{ranks} ranks: ok")

    def test_exit_codes_of_jobs_in_good_order(self):
        for code in (0, 75):
            self.expect(Job(3, "exit", code), code, 20)

    def test_a_rank_that_fails_ends_the_job_with_its_code(self):
        for code in (1, 5, 6, 70):
            self.expect(Job(3, "throw", 2, code), code, 10, r"rank 2 \([^)]*\): this rank has failed")

    def test_a_rank_that_fails_before_it_has_joined(self):
        for code in (2, 5):
            self.expect(Job(3, "early", 1, code), code, 10, r"rank 1 \([^)]*\): this rank cannot begin")

    def test_ranks_that_differ_are_refused(self):
        self.expect(Job(4, "contract", 3), 5, 5,
                    r"rank 3 \([^)]*process \d+\) has plan checksum X; ranks 0-2 have Y")

    def test_faults(self):
        trials = [(2, "kill", 1, kind, moment) for kind, moment in zip(jobs.KINDS, jobs.MOMENTS + ("join",))]
        trials += [(3, "stop", 1, "all_reduce", "in"), (2, "stop", 0, "barrier", "in"),
                   (3, "sleep", 2, "all_gather", "before"), (2, "sleep", 0, "broadcast", "after"),
                   (2, "stop", 1, "barrier", "join"), (3, "kill", 1, "reduce_scatter", "in"),
                   (2, "stop", 0, "all_gather_parts", "in")]
        for trial in trials:
            with self.subTest(trial=trial):
                self.assertEqual(jobs.fault_trial(*trial), [])

    def test_the_program_starts_its_ranks(self):
        own = [jobs.PROGRAM, "--ranks", "3"]
        self.expect(Job(3, "operations", command=own), 0, 60, "3 ranks: ok")
        self.expect(Job(3, "throw", 1, 6, command=own), 6, 10, r"rank 1 \([^)]*\): this rank has failed")
        self.expect(Job(3, "operations", command=own, env={"PATH": "/nowhere"}), 1, 10, f"install {jobs.flavour()}")
        self.expect(Job(2, "--ranks", 2, "operations"), 2, 10, "leave out --ranks")

    def test_a_missing_library_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(jobs.PROGRAM, folder)
            self.expect(Job(2, "operations", command=[*jobs.launcher(2), alone]), 1, 10,
                        "libdtnn_mpi.so is in none of", f"help: install {jobs.flavour()}")

    def test_signals_reach_the_ranks(self):
        # Open MPI's mpiexec kills the ranks itself at TERM and INT, which only --ranks can help.
        hydra = [signal.SIGTERM, signal.SIGINT] if jobs.flavour() == "MPICH" else []
        for sent, command in ((signal.SIGUSR1, [jobs.PROGRAM, "--ranks", "2"]),
                              (signal.SIGTERM, [jobs.PROGRAM, "--ranks", "2"]),
                              (signal.SIGINT, [jobs.PROGRAM, "--ranks", "2"]),
                              *((sent, [*jobs.launcher(2), jobs.PROGRAM]) for sent in hydra)):
            with self.subTest(signal=sent, command=command):
                with subprocess.Popen([*command, "wait"], text=True, env=jobs.ENVIRONMENT,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                    while "waiting" not in process.stderr.readline():
                        self.assertIsNone(process.poll())
                    process.send_signal(sent)
                    process.communicate(timeout=20)
                    # After a signal mpiexec itself may lose the ranks' code; --ranks does not.
                    self.assertIn(process.returncode, [75] if "--ranks" in command else [75, 0])


if __name__ == "__main__":
    reason = jobs.why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
