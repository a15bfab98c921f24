"""Ranks that are processes: what they exchange, and how a job ends when one of them goes wrong."""

import os
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
        self.expect(Job(3, "operations", command=own, env={"PATH": "/nowhere"}), 1, 10, f"install {jobs.FLAVOUR.name}")
        self.expect(Job(2, "--ranks", 2, "operations"), 2, 10, "leave out --ranks")

    def test_a_missing_library_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(jobs.PROGRAM, folder)
            self.expect(Job(2, "operations", command=[*jobs.launcher(2), alone]), 1, 10,
                        f"{jobs.FLAVOUR.library} is in none of", f"help: install {jobs.FLAVOUR.name}")

    def test_one_program_serves_every_mpi(self):
        for flavour in jobs.FLAVOURS:
            if reason := flavour.why_not():
                print(f"skipped: {reason}", file=sys.stderr)
                continue
            with self.subTest(flavour=flavour.name):
                by_hand = [*flavour.launcher(2), jobs.PROGRAM]
                self.expect(Job(2, "operations", command=by_hand, env={"DTNN_MPI": ""}), 0, 60, "2 ranks: ok")
                own = [jobs.PROGRAM, "--ranks", "2"]
                self.expect(Job(2, "operations", command=own, env={"DTNN_MPI": flavour.word}), 0, 60, "2 ranks: ok")
                for other in jobs.FLAVOURS:
                    if other is not flavour:
                        told = f"DTNN_MPI={other.word} asks for {other.name}, and {flavour.name}'s mpiexec has started this process"
                        self.expect(Job(2, "operations", command=by_hand, env={"DTNN_MPI": other.word}), 2, 10, told,
                                    "help: unset DTNN_MPI, or start the ranks with")

    def test_the_library_is_chosen_by_who_has_started_the_ranks(self):
        """Without an MPI: the launcher's variables, which libraries are there, what DTNN_MPI says; the code, and what is said."""
        mpich, openmpi = (flavour.library for flavour in jobs.FLAVOURS)
        hydra = {"PMI_RANK": "0", "PMI_SIZE": "2", "HYDI_CONTROL_FD": "7"}
        pmi = {"PMI_RANK": "0", "PMI_SIZE": "2", "SLURM_STEP_NUM_TASKS": "2"}
        ompi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "0", "PMIX_NAMESPACE": "1019150337"}
        pmix = {"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.7.0", "SLURM_STEP_NUM_TASKS": "2"}
        prte = {"PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-node1-42@1"}
        one_task = {"PMI_RANK": "0", "PMI_SIZE": "1", "SLURM_STEP_NUM_TASKS": "1"}
        both = (mpich, openmpi)
        for launcher, there, asked, code, *said in (
                (hydra, both, "", 1, f"cannot load .*{mpich}", "help: install MPICH"),
                (ompi, both, "", 1, f"cannot load .*{openmpi}", "help: install Open MPI"),
                (ompi | one_task, both, "", 1, f"cannot load .*{openmpi}"),
                (ompi | hydra, both, "", 1, f"cannot load .*{mpich}"),
                (pmi, both, "", 1, f"cannot load .*{mpich}"),
                (pmi, both, "openmpi", 1, f"cannot load .*{openmpi}"),
                (pmi, (openmpi,), "", 1, f"cannot load .*{openmpi}"),
                (pmix, both, "", 1, f"cannot load .*{openmpi}"),
                (pmix, both, "mpich", 1, f"cannot load .*{mpich}"),
                (pmix, (mpich,), "", 1, f"cannot load .*{mpich}"),
                (prte, both, "", 2, "not of how many", "help: start the ranks with dtnn-run --ranks N, mpiexec.mpich -n N"),
                (prte, (openmpi,), "", 2, "not of how many", "help: start the ranks with dtnn-run --ranks N, mpiexec.openmpi -n N"),
                (ompi, (mpich,), "", 2, f"Open MPI's mpiexec has started this process, and {openmpi} is in none of",
                 f"; with {mpich}, which is there, each rank would be rank 0 of 1",
                 "help: start the ranks with dtnn-run --ranks N, mpiexec.mpich -n N or srun --mpi=pmi2 -n N; or install Open MPI .* package dtnn-openmpi"),
                (hydra, (openmpi,), "", 2, f"MPICH's mpiexec has started this process, and {mpich} is in none of",
                 f"; with {openmpi}, which is there", "mpiexec.openmpi -n N or srun --mpi=pmix -n N"),
                (ompi, both, "mpich", 2, "DTNN_MPI=mpich asks for MPICH, and Open MPI's mpiexec has started this process"),
                (hydra, both, "openmpi", 2, "DTNN_MPI=openmpi asks for Open MPI, and MPICH's mpiexec has started this process", "help: unset DTNN_MPI"),
                (pmi, (mpich,), "openmpi", 1, f"several ranks were started, but {openmpi} is in none of"),
                (pmi, both, "lam", 2, "DTNN_MPI is `lam`: it is mpich or openmpi"),
                (pmi, (), "", 1, f"several ranks were started, but {mpich} is in none of", f"and build {mpich}"),
                (ompi, (), "", 1, f"several ranks were started, but {openmpi} is in none of")):
            with self.subTest(launcher=launcher, there=there, asked=asked), tempfile.TemporaryDirectory() as folder:
                alone = shutil.copy(jobs.PROGRAM, folder)
                for library in there:
                    with open(os.path.join(folder, library), "w", encoding="utf-8"):
                        pass  # found, and no library that loads
                self.expect(Job(1, "operations", command=[alone], env=launcher | {"DTNN_MPI": asked}), code, 10, *said)

    def test_ranks_are_started_by_the_mpiexec_of_their_mpi(self):
        mpich, openmpi = (flavour.library for flavour in jobs.FLAVOURS)
        real = os.path.join(jobs.BIN, jobs.FLAVOUR.library)
        open_mpi_says, hydra_says = "mpiexec (OpenRTE) 4.1.4", "HYDRA build details:"
        oversubscribe = "-n 2 --oversubscribe --bind-to none --allow-run-as-root /"
        for there, asked, programs, code, *said in (
                ((mpich, openmpi), "", {"mpiexec": hydra_says}, 0, "^mpiexec -n 2 /"),
                ((mpich, openmpi), "", {"mpiexec": open_mpi_says}, 0, f"^mpiexec {oversubscribe}"),
                ((mpich, openmpi), "", {"mpiexec": open_mpi_says, "mpiexec.mpich": ""}, 0, "^mpiexec.mpich -n 2 /"),
                ((mpich, openmpi), "openmpi", {"mpiexec.openmpi": "", "mpiexec.mpich": ""}, 0, f"^mpiexec.openmpi {oversubscribe}"),
                ((openmpi,), "", {"mpiexec": open_mpi_says, "mpiexec.mpich": ""}, 0, f"^mpiexec {oversubscribe}"),
                ((openmpi,), "", {"mpiexec": hydra_says}, 1, f"for MPICH, {mpich} is in none of",
                 "for Open MPI, mpiexec.openmpi is in no folder of PATH", r"help: install Open MPI \(Debian"),
                ((mpich, openmpi), "mpich", {"mpiexec": open_mpi_says}, 1, "for MPICH, mpiexec.mpich is in no folder of PATH"),
                ((), "", {"mpiexec": hydra_says}, 1, f"help: install MPICH .* and build {mpich}"),
                ((mpich,), "lam", {"mpiexec": hydra_says}, 2, "DTNN_MPI is `lam`")):
            with self.subTest(there=there, asked=asked, programs=programs), tempfile.TemporaryDirectory() as folder:
                alone = shutil.copy(jobs.PROGRAM, folder)
                for library in there:  # any that loads
                    shutil.copy(real, os.path.join(folder, library))
                bins = os.path.join(folder, "bin")
                os.mkdir(bins)
                for name, version in programs.items():
                    with open(os.path.join(bins, name), "w", encoding="utf-8") as file:
                        file.write(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" || echo "{name} $@"\n')
                    os.chmod(file.name, 0o755)
                job = Job(2, "operations", command=[alone, "--ranks", "2"], env={"DTNN_MPI": asked, "PATH": bins})
                self.expect(job, code, 10, *(said if code else [f"(?m){said[0]}"]))

    def test_signals_reach_the_ranks(self):
        # Open MPI's mpiexec kills the ranks itself at TERM and INT, which only --ranks can help.
        hydra = [signal.SIGTERM, signal.SIGINT] if jobs.FLAVOUR.word == "mpich" else []
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
