#!/usr/bin/env python3
"""What a run says at its start of the cores and the memory it has got, beside what the plan asks for."""

import os
import shutil
import unittest

from commands import DTNN_RUN, MPIEXEC, CommandTest, run, why_no_ranks

MISSING = why_no_ranks()
CORES = sorted(os.sched_getaffinity(0))


class Start(CommandTest):
    def warnings(self, *command, code=0, env=None):
        """The warnings of a run of one epoch, without what stands before them."""
        self.number = getattr(self, "number", 0) + 1
        # Whatever the test itself was started with.
        clean = {name: "" for name in ("OMP_NUM_THREADS", "SLURM_JOB_ID", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS",
                                       "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_NTASKS_PER_NODE")}
        done = run(*command, "--output", f"r{self.number}", "--progress", "none", cwd=self.folder, env=dict(clean, **(env or {})))
        self.assertEqual(done.returncode, code, done.stderr)
        return [line.partition("warning: ")[2] for line in done.stderr.splitlines() if "warning: " in line]

    @unittest.skipUnless(shutil.which("taskset"), "taskset is not there")
    def test_fewer_cores_than_threads(self):
        plan = self.compile("--threads", "2", "--set", "training.epochs=1")
        bound = ["taskset", "-c", str(CORES[0])]
        fact = "this process may run on 1 core, and has 2 threads; "
        remedy = "let it run on more (taskset --cpu-list), or" if os.cpu_count() > 1 else ""
        found = self.warnings(*bound, DTNN_RUN, plan)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(fact + remedy), found)
        self.assertTrue(found[0].endswith("compile with --threads 1"), found)
        found = self.warnings(*bound, DTNN_RUN, plan, env={"SLURM_JOB_ID": "7"})
        if os.cpu_count() > 1:
            self.assertEqual(found, [fact + "start the ranks with srun --cpus-per-task=2 --cpu-bind=cores"])

    def test_threads_that_stay_on_processors(self):
        weights = []
        for value in ("true", "false"):
            plan = self.compile("--threads", "1", "--set", "training.epochs=1", "--set", f"pin_threads={value}")
            done = self.expect(self.dtnn_run(plan, "--output", value), 0)
            with open(self.path(f"{value}/weights.safetensors"), "rb") as file:
                header = int.from_bytes(file.read(8), "little")  # it names the plan
                weights.append(file.read()[header:])
            without = "built without hwloc" in done.stderr
            self.assertEqual(f"threads stay on processors {CORES[0]}" in done.stdout + done.stderr,
                             value == "true" and not without, done.stdout + done.stderr)
        self.assertEqual(weights[0], weights[1])
        if without:
            return
        many = 4 * len(CORES)
        plan = self.compile("--threads", str(many), "--set", "training.epochs=1", "--set", "pin_threads=true")
        obeyed = [line for line in self.warnings(DTNN_RUN, plan) if "pin_threads" in line]
        self.assertEqual(len(obeyed), 1, obeyed)
        self.assertRegex(obeyed[0], f"^`pin_threads` is not obeyed: {many} threads share \\d+ processors? on .*; "
                                    "the system places the threads$")

    def test_threads_of_the_environment(self):
        plan = self.compile("--threads", "2", "--set", "training.epochs=1")
        self.assertEqual(self.warnings(DTNN_RUN, plan, env={"OMP_NUM_THREADS": "1"}),
                         ["this process runs with 1 thread by OMP_NUM_THREADS=1, and the plan is laid out for 2; unset "
                          "OMP_NUM_THREADS, or compile with --threads 1"])

    def test_what_slurm_was_asked_for(self):
        plan = self.compile("--threads", "1", "--set", "training.epochs=1", "--set", "parallel.data=auto")
        self.assertEqual(self.warnings(DTNN_RUN, plan), [])
        slurm = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "1"}
        self.assertEqual(self.warnings(DTNN_RUN, plan, env=dict(slurm, SLURM_MEM_PER_NODE="600")), [])
        found = self.warnings(DTNN_RUN, plan, env=dict(slurm, SLURM_MEM_PER_NODE="1"))
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"^this process has [\d.]+ [KMGT]iB of memory by the plan, and Slurm was asked for 1.00 MiB; ask for --mem=")
        found = self.warnings(DTNN_RUN, plan, env=dict(slurm, SLURM_NTASKS="4"))
        self.assertEqual(found, ["Slurm has allocated 4 tasks, and this process is the only rank; start the ranks with srun "
                                 "--mpi=pmi2"])

    def test_memory_that_no_machine_has_is_refused_before_it_is_allocated(self):
        plan = self.compile("--set", "model.layers.0.conv2d.filters=1000000", "--set",
                            "training.batch_size=256", "--set", "model.layers.0.conv2d.stride=1")
        done = run(DTNN_RUN, plan, "--output", "r", cwd=self.folder)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"this process has [\d.]+ [KMGT]iB of memory to allocate, and (the machine has|its control group grants)")
        self.assertIn("smaller training.batch_size", done.stderr)

    @unittest.skipIf(MISSING or not shutil.which("taskset"), MISSING or "taskset is not there")
    def test_ranks_on_one_core_are_told_once(self):
        plan = self.compile("--threads", "1", "--set", "training.epochs=1", "--set", "parallel.data=auto")
        found = self.warnings(MPIEXEC, "-n", "2", "taskset", "-c", str(CORES[0]), DTNN_RUN, plan)
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"^ranks 0, 1 \([^)]+\) may run on 1 core together, and have 2 threads together; ")
        if os.cpu_count() > 1:
            self.assertIn("mpiexec --bind-to core:1", found[0])
        if len(CORES) > 1:
            self.assertEqual(self.warnings(MPIEXEC, "-n", "2", DTNN_RUN, plan), [])


if __name__ == "__main__":
    unittest.main()
