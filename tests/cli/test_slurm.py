#!/usr/bin/env python3
"""Batch scripts for Slurm: what they ask for, and what they do, run with programs that stand for Slurm's."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import TINY, CommandTest, limit, run

PARALLEL = TINY + "threads: 3\nparallel: {data: auto}\n"
MACHINE = "machine: {name: node, nodes: 2, cores: 8, memory: 4GiB, isa: avx2}\n"

# In place of srun: says what it is given and which signals come, and ends with the code in the file `code`.
FAKE_SRUN = r"""#!/bin/bash
printf '%s\n' "$@" > "$FAKE/srun.arguments"
echo "$OMP_NUM_THREADS" > "$FAKE/threads"
pwd > "$FAKE/folder"
stop() { echo "$1" >> "$FAKE/signals"; sleep 0.3; exit "$(cat "$FAKE/code")"; }
trap 'stop USR1' USR1
trap 'stop TERM' TERM
touch "$FAKE/started"
if [ -e "$FAKE/wait" ]; then
    for _ in $(seq 200); do sleep 0.05; done
    exit 99
fi
exit "$(cat "$FAKE/code")"
"""
FAKE_SCONTROL = """#!/bin/bash
printf '%s\\n' "$*" >> "$FAKE/scontrol.arguments"
[ ! -e "$FAKE/refuse" ]
"""


class Slurm(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("job.yaml", PARALLEL)
        self.fake = self.path("fake programs")
        os.makedirs(self.fake)
        for name, text in (("srun", FAKE_SRUN), ("scontrol", FAKE_SCONTROL)):
            path = os.path.join(self.fake, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)
        self.compile(spec="job.yaml")

    def script(self, *arguments, plan="plan.json", ranks="4"):
        """The text of a script, which bash and shellcheck find nothing wrong with."""
        words = ("--ranks", ranks) if ranks else ()
        text = self.expect(self.dtnnc("slurm", plan, *words, *arguments), 0).stdout
        path = self.write("job.sh", text)
        self.expect(run("bash", "-n", path), 0)
        if shutil.which("shellcheck"):
            self.assertEqual(run("shellcheck", "--exclude=SC2016", path).stdout, "")
        return text

    def options(self, text):
        """--name=value of the lines that Slurm reads, which all stand before the first command."""
        head = text.split("\nset -u\n")[0]
        self.assertEqual(text.count("#SBATCH"), head.count("#SBATCH"))
        return dict((line[10:] + "=").split("=", 1) for line in head.splitlines() if line.startswith("#SBATCH --"))

    def fake_file(self, name, text=None):
        path = os.path.join(self.fake, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return None
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()

    def start(self, code, waits=False, task=None):
        for name in os.listdir(self.fake):
            if name not in ("srun", "scontrol", "refuse"):
                os.remove(os.path.join(self.fake, name))
        self.fake_file("code", str(code))
        if waits:
            self.fake_file("wait", "")
        environment = dict(os.environ, FAKE=self.fake, SLURM_JOB_ID="4711",
                           PATH=self.fake + os.pathsep + os.environ["PATH"])
        if task is not None:
            environment.update(SLURM_ARRAY_JOB_ID="4700", SLURM_ARRAY_TASK_ID=str(task))
        process = subprocess.Popen(["bash", self.path("job.sh")], cwd="/", env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def end(self, process):
        stdout, stderr = process.communicate(timeout=limit(60))
        return process.returncode, stdout + stderr

    def wait_for(self, name):
        for _ in range(600):
            if self.fake_file(name) is not None:
                return
            time.sleep(0.05)
        self.fail(f"{name} never came")

    def test_it_asks_for_what_the_plan_needs(self):
        options = self.options(self.script("--time", "2:00:00", "--partition", "batch", "--account", "p-1",
                                           "--nodes", "3", "--signal-before", "90"))
        per_core = int(options.pop("mem-per-cpu").rstrip("M="))
        self.assertGreater(per_core * 4, 512)          # what the program and MPI take is added
        self.assertLess(per_core * 4, 600)             # the plan itself is small
        self.assertEqual({key: value.rstrip("=") for key, value in options.items()},
                         {"job-name": "tiny", "ntasks": "4", "nodes": "3", "ntasks-per-node": "2", "cpus-per-task": "4",
                          "threads-per-core": "1", "time": "2:00:00", "partition": "batch", "account": "p-1",
                          "signal": "B:USR1@90", "requeue": "", "open-mode": "append"})
        plain = self.options(self.script("--no-requeue"))
        self.assertIn("no-requeue", plain)
        for absent in ("requeue", "nodes", "time", "partition", "account"):
            self.assertNotIn(absent, plain)

    def test_memory_is_the_plans(self):
        import json
        with open(self.path("plan.json"), encoding="utf-8") as file:
            memory = json.load(file)["memory"]
        need = memory["arena"] + memory["staging"] + memory["samples"]
        text = self.script()
        stated = re.search(r"Memory of a rank: ([\d.]+) MiB of the plan, 512.0 MiB more", text)
        self.assertGreaterEqual(float(stated.group(1)) * 2**20, need)
        self.assertLess((float(stated.group(1)) - 0.11) * 2**20, need)
        per_core = int(self.options(text)["mem-per-cpu"].rstrip("M="))
        self.assertGreaterEqual(per_core * 4 * 2**20, need + 512 * 2**20)
        self.assertLess((per_core - 2) * 4 * 2**20, need + 512 * 2**20)

    def test_first_start_and_going_on(self):
        self.script("--run", "runs/a b")
        self.assertEqual(self.end(self.start(0)), (0, ""))
        folder = os.path.realpath(self.folder)
        arguments = self.fake_file("srun.arguments").splitlines()
        self.assertEqual(arguments[:4], ["--ntasks=4", "--cpus-per-task=4", "--cpu-bind=cores", "--mpi=pmi2"])
        self.assertEqual(arguments[4:6], ["--kill-on-bad-exit=1", "--wait=120"])
        self.assertTrue(arguments[6].endswith("dtnn-run"), arguments)
        self.assertEqual([os.path.realpath(word) if word.startswith("/") else word for word in arguments[7:]],
                         ["train", folder + "/plan.json", "--output", folder + "/runs/a b"])
        self.assertEqual(self.fake_file("threads"), "3\n")
        self.assertEqual(os.path.realpath(self.fake_file("folder").strip()), folder)
        os.makedirs(self.path("runs/a b"))
        self.end(self.start(0))
        self.assertIn("--output", self.fake_file("srun.arguments"))    # an empty folder is no run
        self.write("runs/a b/plan.json", "{}")
        self.assertEqual(self.end(self.start(0)), (0, ""))
        self.assertEqual(self.fake_file("srun.arguments").splitlines()[9], "--resume")
        self.assertIsNone(self.fake_file("scontrol.arguments"))

    def test_the_signal_reaches_the_ranks_and_the_job_goes_back(self):
        self.script()
        process = self.start(75, waits=True)
        self.wait_for("started")
        process.send_signal(signal.SIGUSR1)
        code, said = self.end(process)
        self.assertEqual((code, self.fake_file("signals"), self.fake_file("scontrol.arguments")),
                         (75, "USR1\n", "requeue 4711\n"))
        self.assertIn("back into the queue", said)

    def test_a_second_signal_does_not_cut_the_waiting_short(self):
        self.script()
        process = self.start(75, waits=True)
        self.wait_for("started")
        process.send_signal(signal.SIGUSR1)
        self.wait_for("signals")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.end(process)[0], 75)
        self.assertEqual(self.fake_file("scontrol.arguments"), "requeue 4711\n")

    def test_a_cancelled_job_stays_away(self):
        self.script()
        process = self.start(75, waits=True)
        self.wait_for("started")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(process)[0], 75)
        self.assertEqual((self.fake_file("signals"), self.fake_file("scontrol.arguments")), ("USR1\n", None))

    def test_stopped_ranks_without_a_signal_to_the_shell_go_back_too(self):
        self.script()
        self.assertEqual(self.end(self.start(75))[0], 75)
        self.assertEqual(self.fake_file("scontrol.arguments"), "requeue 4711\n")

    def test_a_refused_requeue_says_what_to_do(self):
        self.script()
        self.fake_file("refuse", "")
        code, said = self.end(self.start(75))
        self.assertEqual(code, 75)
        self.assertIn("submit it again", said)

    def test_without_requeue_it_says_how_to_go_on(self):
        self.script("--no-requeue")
        code, said = self.end(self.start(75))
        self.assertEqual((code, self.fake_file("scontrol.arguments")), (75, None))
        self.assertIn("submit the job again", said)

    def test_failures_keep_their_code(self):
        self.script()
        for code in (1, 5, 6, 137):
            with self.subTest(code):
                self.assertEqual(self.end(self.start(code))[0], code)
                self.assertIsNone(self.fake_file("scontrol.arguments"))

    def test_names_and_paths_cannot_leave_their_quotes(self):
        folder = self.path("it's $(touch broken) `touch broken` \"x\"")
        os.makedirs(folder)
        shutil.copy(self.path("plan.json"), os.path.join(folder, "plan's.json"))
        self.script("--run", os.path.join(folder, "run;touch broken"), plan=os.path.join(folder, "plan's.json"))
        self.assertEqual(self.end(self.start(0)), (0, ""))
        arguments = self.fake_file("srun.arguments").splitlines()
        self.assertEqual(arguments[8], os.path.join(folder, "plan's.json"))
        self.assertEqual(arguments[10], os.path.join(folder, "run;touch broken"))
        self.assertFalse(os.path.exists(self.path("broken")))
        for option in ("--partition", "--account", "--mpi", "--qos", "--constraint"):
            self.expect(self.dtnnc("slurm", "plan.json", "--ranks", "4", option, "a b\n#SBATCH --x"), 2, option)

    def test_what_cannot_be_is_refused(self):
        self.expect(self.dtnnc("slurm", "plan.json"), 2, "any number of ranks", "--ranks N")
        self.expect(self.dtnnc("slurm", "plan.json", "--ranks", "4", "--nodes", "5"), 2, "every node has at least one")
        self.expect(self.dtnnc("slurm", "plan.json", "--ranks", "4", "--time", "soon"), 2, "is no time")
        self.expect(self.dtnnc("slurm", "plan.json", "--ranks", "4", "--time", "2"), 2, "no longer than the 120 s")
        for time_limit in ("3", "2:01", "1:0:0", "1-0", "1-0:30", "1-12:00:00"):
            self.script("--time", time_limit)
        self.expect(self.dtnnc("slurm", "tiny.yaml", "--ranks", "4"), 5)
        self.compile("--set", "parallel.data=2", spec="job.yaml", plan="two.json")
        self.expect(self.dtnnc("slurm", "two.json", "--ranks", "3"), 5, "it is for 2 ranks")
        self.assertEqual(self.options(self.script(plan="two.json", ranks=None))["ntasks"].rstrip("="), "2")
        self.compile(plan="one.json")
        self.expect(self.dtnnc("slurm", "one.json", "--ranks", "2"), 5, "it is for one rank")
        self.assertNotIn("--mpi", self.script(plan="one.json", ranks=None))

    def test_what_the_machine_wants_in_its_scripts(self):
        self.write("job.yaml", PARALLEL + MACHINE.replace("}", ", slurm: {setup: \"touch \'" + self.path("ready") + "\'\\necho \\\"$NOT_SET\\\"\", constraint: \"a&b|c\", qos: long}}"))
        self.compile(spec="job.yaml", plan="m.json")
        text = self.script(plan="m.json", ranks="2")
        options = self.options(text)
        self.assertEqual((options["constraint"].rstrip("="), options["qos"].rstrip("=")), ("a&b|c", "long"))
        # Before `set -u`, which what modules define does not take.
        code, said = self.end(self.start(0))
        self.assertEqual((code, said), (0, "\n"))
        self.assertTrue(os.path.exists(self.path("ready")))
        mine = self.options(self.script("--qos", "short", "--constraint", "gpu", "--setup", "true", plan="m.json", ranks="2"))
        self.assertEqual((mine["constraint"].rstrip("="), mine["qos"].rstrip("=")), ("gpu", "short"))
        self.assertNotIn("qos", self.options(self.script()))

    def test_ranks_that_died_are_started_again_inside_the_allocation(self):
        # Each try of the stand-in for srun writes a checkpoint more, and the third one ends well.
        def runs(*, moves, code=137):
            again = (f'#!/bin/bash\necho "$@" >> "$FAKE/tries"\nn=$(wc -l < "$FAKE/tries")\nmkdir -p runs/tiny/checkpoints\n'
                     f'touch runs/tiny/plan.json\n[ "{moves}" = no ] || echo "000$n" > runs/tiny/checkpoints/latest\n'
                     f'[ "$n" -lt 3 ] && exit {code}\nexit 0\n')
            shutil.rmtree(self.path("runs"), ignore_errors=True)
            path = os.path.join(self.fake, "srun")
            with open(path, "w", encoding="utf-8") as file:
                file.write(again)
            code, said = self.end(self.start(0))
            return code, said, self.fake_file("tries").splitlines()

        self.script("--restarts", "5")
        code, said, tries = runs(moves="yes")
        self.assertEqual((code, len(tries)), (0, 3), said)
        self.assertIn("--output", tries[0])
        self.assertIn("--resume", tries[1])
        code, said, tries = runs(moves="no")
        self.assertEqual((code, len(tries)), (137, 2), said)
        self.assertIn("no further", said)
        # Another try does not mend these.
        self.assertEqual(len(runs(moves="yes", code=5)[2]), 1)
        self.script("--restarts", "1")
        self.assertEqual(runs(moves="yes")[0], 137)
        self.script()
        self.assertEqual(len(runs(moves="yes")[2]), 1)

    def test_a_job_that_comes_no_further_does_not_go_back_for_ever(self):
        self.script("--idle-requeues", "2")
        os.makedirs(self.path("runs/tiny/checkpoints"))
        went = []
        for newest in ("0001", "0002", "0002", "0002", "0003"):
            self.write("runs/tiny/checkpoints/latest", newest + "\n")
            code, said = self.end(self.start(75))
            self.assertEqual(code, 75)
            went.append(self.fake_file("scontrol.arguments") is not None)
            self.assertEqual("without a newer checkpoint" in said, not went[-1], said)
        self.assertEqual(went, [True, True, True, False, True])

    def test_a_sweep_is_an_array_with_a_job_for_each_plan(self):
        self.expect(self.dtnnc("compile", "job.yaml", "-o", "wide sweep", "--sweep", "training.batch_size=32,64,128",
                               "--sweep", "threads=1,2"), 0)
        text = self.script("--at-once", "2", "--time", "1:00:00", plan="wide sweep", ranks="2")
        options = self.options(text)
        self.assertEqual({name: options[name].rstrip("=") for name in ("array", "job-name", "ntasks", "cpus-per-task")},
                         {"array": "0-5%2", "job-name": "wide_sweep", "ntasks": "2", "cpus-per-task": "3"})
        folder = os.path.realpath(self.folder)
        # Each job runs the plan of its number; the table of the sweep finds it there.
        for task, name, threads in ((0, "batch_size-32_threads-1", "1"), (5, "batch_size-128_threads-2", "2")):
            self.assertEqual(self.end(self.start(0, task=task)), (0, ""))
            arguments = self.fake_file("srun.arguments").splitlines()
            self.assertEqual(arguments[:2], ["--ntasks=2", f"--cpus-per-task={int(threads) + 1}"])
            self.assertEqual([os.path.realpath(word) if word.startswith("/") else word for word in arguments[7:]],
                             ["train", f"{folder}/wide sweep/{name}.plan.json", "--output",
                              f"{folder}/wide sweep/runs/{name}"])
            self.assertEqual(self.fake_file("threads"), threads + "\n")
        # Its own number: the array's would put all jobs back.
        self.assertEqual(self.end(self.start(75, task=5))[0], 75)
        self.assertEqual(self.fake_file("scontrol.arguments"), "requeue 4700_5\n")
        code, said = self.end(self.start(0, task=6))
        self.assertEqual(code, 2)
        self.assertIn("the sweep has no plan 6", said)
        code, said = self.end(self.start(0))
        self.assertNotEqual(code, 0)
        self.assertIn("submit it by sbatch", said)
        self.assertEqual(self.options(self.script(plan="wide sweep", ranks="2"))["array"].rstrip("="), "0-5")
        self.expect(self.dtnnc("slurm", "wide sweep", "--ranks", "2", "--run", "x"), 2, "--run")
        self.expect(self.dtnnc("slurm", "plan.json", "--ranks", "2", "--at-once", "2"), 2, "--at-once")
        self.expect(self.dtnnc("slurm", ".", "--ranks", "2"), 5, "index.json")

    def test_ranks_with_a_device_each(self):
        self.compile("--target", "cuda", spec="job.yaml", plan="cuda.json")
        options = self.options(self.expect(self.dtnnc("slurm", "cuda.json", "--ranks", "4"), 0).stdout)
        self.assertEqual([options["gpus-per-task"].rstrip("="), options["gpu-bind"].rstrip("=")], ["1", "none"])

    def test_the_machine_of_the_job(self):
        self.write("job.yaml", PARALLEL + MACHINE)
        self.compile(spec="job.yaml", plan="m.json")
        process = self.expect(self.dtnnc("slurm", "m.json", "--ranks", "2"), 0)
        self.assertEqual(process.stderr, "")
        # Without a core to spare the data workers share those of the threads.
        self.assertEqual(self.options(self.expect(self.dtnnc("slurm", "m.json", "--ranks", "4"), 0).stdout)["cpus-per-task"]
                         .rstrip("="), "4")
        process = self.expect(self.dtnnc("slurm", "m.json", "--ranks", "6"), 0, "warning: 3 ranks of 3 threads")
        self.assertIn("help: compile with --threads 2", process.stderr)
        self.assertEqual(self.options(process.stdout)["cpus-per-task"].rstrip("="), "3")
        self.expect(self.dtnnc("slurm", "m.json", "--ranks", "6", "--nodes", "3"), 0, "warning: --nodes 3")
        self.expect(self.dtnnc("slurm", "m.json", "--ranks", "40", "--nodes", "2"), 0, "GiB in all on a node of 4.00 GiB")


class Compile(CommandTest):
    """--ranks and machines through dtnnc compile."""

    def test_ranks(self):
        self.write("job.yaml", PARALLEL)
        import json
        for arguments, expected in (((), (1, True, True)), (("--ranks", "4"), (4, True, True)),
                                    (("--set", "parallel.data=4"), (4, True, False)),
                                    (("--ranks", "4", "--set", "parallel.data=4"), (4, True, False))):
            self.compile(*arguments, spec="job.yaml")
            plan = json.loads(self.read("plan.json"))
            self.assertEqual((plan["target"]["ranks"], plan["parallel"]["data"], plan["parallel"]["any_ranks"]), expected)
        self.compile("--ranks", "2")
        plan = json.loads(self.read("plan.json"))
        self.assertEqual((plan["target"]["ranks"], plan["parallel"]["data"], plan["parallel"]["any_ranks"]), (2, True, False))
        self.expect(self.dtnnc("compile", "job.yaml", "--set", "parallel.data=3", "--ranks", "2"), 3, "[ranks-mismatch]")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--ranks", "0"), 2)
        self.expect(self.dtnnc("summary", "plan.json", "--ranks", "2"), 2, "is a plan")

    def test_machines(self):
        self.write("job.yaml", TINY + MACHINE)
        import json
        self.compile(spec="job.yaml")
        plan = json.loads(self.read("plan.json"))
        self.assertEqual((plan["target"]["isa"], plan["target"]["threads"]), ("avx2", 8))
        self.assertEqual((plan["machine"]["name"], plan["machine"]["cores"]), ("node", 8))
        self.compile("--ranks", "4", "--isa", "baseline", spec="job.yaml")
        plan = json.loads(self.read("plan.json"))
        self.assertEqual((plan["target"]["isa"], plan["target"]["threads"]), ("baseline", 4))
        self.expect(self.dtnnc("compile", "job.yaml", "--isa", "avx512"), 5, "[machine-mismatch]", "with --isa avx2")
        self.expect(self.dtnnc("compile", "job.yaml", "--threads", "9"), 5, "at most 8 threads fit")
        self.expect(self.dtnnc("compile", "job.yaml", "--set", "machine.memory=1MB"), 4, "[over-machine-memory]")
        self.expect(self.dtnnc("compile", "job.yaml", "--set", "machine=laptop", "--spec-path",
                               os.path.join(os.path.dirname(__file__), "..", "..", "specs")), 0)

    def test_diff_tells_speed_from_mathematics(self):
        self.write("job.yaml", PARALLEL)
        self.compile(spec="job.yaml", plan="a.json")
        for setting, label in (("parallel.reduction=blocking", "performance only"),
                               ("parallel.timeout=60", "performance only"),
                               ("parallel.learning_rate_scaling=linear", "mathematics"),
                               ("parallel.data=3", "mathematics")):
            with self.subTest(setting):
                self.compile("--set", setting, spec="job.yaml", plan="b.json")
                text = self.expect(self.dtnnc("diff", "a.json", "b.json"), 1).stdout
                line = next(line for line in text.splitlines() if setting.split("=")[0] in line)
                self.assertIn(label, text[:text.index(line) + 400])


if __name__ == "__main__":
    unittest.main()
