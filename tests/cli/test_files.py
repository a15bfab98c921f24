"""Files that were not made to be read, streams that cannot be written, and names that are no names."""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

from commands import DTNNC, DTNN_RUN, SANITIZED, CommandTest, limit, run, why_no_ranks

MISSING = why_no_ranks()


def measured(*command, cwd, timeout=120):
    """The exit code, the output and the most memory in MB that the command ever had."""
    with open(os.path.join(cwd, "measured.txt"), "w+b") as output:
        process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=output,
                                   env=dict(os.environ, NO_COLOR="1"))
        deadline = time.monotonic() + limit(timeout)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise AssertionError(f"{command[:3]} was not done after {timeout} s")
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return process.returncode, output.read().decode("utf-8", "replace"), usage.ru_maxrss / 1024


def png_chunk(kind, data, length=None):
    return (struct.pack(">I", len(data) if length is None else length) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def gray_png(height, width, beside=b""):
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" + b"\x40" * width) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + beside + png_chunk(b"IDAT", rows) +
            png_chunk(b"IEND", b""))


class NotFiles(CommandTest):
    """What is no regular file is never waited for and never read without end."""

    def refuse(self, command, code, *texts):
        found, text, megabytes = measured(*command, cwd=self.folder, timeout=20)
        self.assertEqual(found, code, text)
        for one in texts:
            self.assertIn(one, text)
        self.assertLess(megabytes, 300, command)

    def test_what_cannot_be_a_plan_is_not_read_to_its_end(self):
        head = '{"format": "dtnn-plan", "version": 1, "checksum": "xxh3:' + "0" * 32 + '",\n'
        self.write("head", head)
        for stream in ("yes", "cat /dev/zero", "cat head /dev/zero"):
            self.refuse(["sh", "-c", f"{stream} | {DTNN_RUN} -"], 5, "<stdin>")

    def test_a_plan_that_does_not_come_is_not_waited_for_after_a_signal(self):
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([DTNN_RUN, "-"], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write('{"format": "dtnn-plan", ')
                process.stdin.flush()
                time.sleep(0.3)
                process.send_signal(signal_number)
                self.assertEqual(process.wait(limit(10)), 75)
                self.assertIn("stopped by a signal", process.stderr.read())

    def test_pipes_and_devices_are_refused_wherever_a_file_is_named(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        os.mkfifo(self.path("pipe"))
        os.mkfifo(self.path("pipe.json"))
        os.mkfifo(self.path("pipe.yaml"))
        weights = "run/weights.safetensors"
        for place, what in (("pipe", "pipe"), ("/dev/zero", "device")):
            self.refuse([DTNN_RUN, place], 5, what)
            self.refuse([DTNN_RUN, "train", "--dry-run", place], 5, what)
            self.refuse([DTNN_RUN, "evaluate", plan, "--weights", place], 5, what)
            self.refuse([DTNN_RUN, "evaluate", plan, "--weights", weights, "--map", place], 5, what)
            self.refuse([DTNN_RUN, "weights", "list", place], 5, what)
            self.refuse([DTNNC, "check", place], 2, what)
        self.refuse([DTNNC, "summary", "pipe.json"], 5, "pipe")
        self.refuse([DTNNC, "check", "pipe.yaml"], 2, "pipe")
        self.refuse([DTNNC, "compile", "tiny.yaml", "--set", "dataset=pipe.yaml", "-o", "p.json"], 3, "pipe")
        for name in ("history.jsonl", "plan.json"):
            shutil.copytree(self.path("run"), self.path("broken"))
            os.remove(self.path("broken/" + name))
            os.mkfifo(self.path("broken/" + name))
            self.refuse([DTNN_RUN, "report", "broken"], 1, "pipe", name)
            shutil.rmtree(self.path("broken"))

    def test_a_file_beyond_its_bound_is_refused_before_memory_is_taken(self):
        plan = self.compile()
        with open(self.path("map.json"), "wb") as file:
            file.truncate(1 << 40)
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        self.refuse([DTNN_RUN, "evaluate", plan, "--weights", "run", "--map", "map.json"], 2, "folder")
        self.refuse([DTNN_RUN, "evaluate", plan, "--weights", "run/weights.safetensors", "--map", "map.json"], 5,
                    "a map has at most")
        os.truncate(self.path("run/history.jsonl"), 1 << 40)
        self.refuse([DTNN_RUN, "report", "run"], 1, "a history has at most")


class Images(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("resize.yaml", self.read("tiny.yaml").replace(
            "test_samples: 70", "test_samples: 70, transforms: [{resize: {size: [28, 28]}}]"))
        plan = self.compile(spec="resize.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        self.predict = [DTNN_RUN, "predict", plan, "--weights", "run/weights.safetensors", "--input", "image.png",
                        "-o", "answers.csv"]

    def predicted(self, image):
        with open(self.path("image.png"), "wb") as file:
            file.write(image)
        return measured(*self.predict, cwd=self.folder)

    def test_what_stands_beside_the_pixels_takes_no_memory(self):
        packed = b"Comment\0\0" + zlib.compress(b"x" * (1 << 20))
        code, text, _ = self.predicted(gray_png(28, 28, png_chunk(b"zTXt", packed)))
        self.assertEqual(code, 0, text)
        # Two gigabytes of text, the file says.
        code, text, megabytes = self.predicted(gray_png(28, 28, png_chunk(b"zTXt", packed, 0x7FFFFFFF)))
        self.assertEqual(code, 1, text)
        self.assertIn("cut off", text)
        self.assertLess(megabytes, 200)

    def test_images_of_too_many_pixels_are_refused(self):
        code, text, _ = self.predicted(gray_png(500, 700))
        self.assertEqual(code, 0, text)
        code, text, megabytes = self.predicted(gray_png(9000, 9000))
        self.assertEqual(code, 1, text)
        self.assertIn("9000 x 9000", text)
        self.assertLess(megabytes, 200 if SANITIZED else 100)


class Linear(CommandTest):
    """What takes more than time and memory in proportion fails by the bound of memory, or of time."""

    def test_a_step_of_twenty_thousand_layers(self):
        layers = "layers:\n    - repeat: {times: 20000, layers: [relu]}"
        self.write("deep.yaml", self.read("tiny.yaml").replace("layers:", layers, 1))
        for form in ("text", "json", "csv"):
            code, text, megabytes = measured(DTNNC, "summary", "deep.yaml", "--with", "fused", "--format", form,
                                             cwd=self.folder)
            self.assertEqual(code, 0, text[-2000:])
            self.assertLess(megabytes, 800 if SANITIZED else 600)

    def test_settings_of_twenty_thousand_parts(self):
        many = 20_000
        for setting, wanted, text in (("model." + ".".join(["a"] * many) + "=1", 2, "names in its path"),
                                      ("model." + "layers[1]." * (many // 2) + "a=1", 2, "names in its path"),
                                      ("training.metrics=[" + ",".join(["a"] * many) + "]", 3, "(setting 1)")):
            code, found, megabytes = measured(DTNNC, "check", "tiny.yaml", "--set", setting, cwd=self.folder)
            self.assertEqual(code, wanted, found[-2000:])
            self.assertIn(text, found)
            self.assertLess(megabytes, 300)

    def test_three_hundred_thousand_tensors_and_sixty_thousand_measures(self):
        header = {f"layer_{i}.weights": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
                  for i in range(300_000)}
        text = json.dumps(header).encode()
        with open(self.path("many.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + bytes(4 * len(header)))
        code, found, _ = measured(DTNN_RUN, "weights", "export", "many.safetensors", "-o", "again.safetensors",
                                  cwd=self.folder, timeout=60)
        self.assertEqual(code, 0, found)
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        events = self.history("run")
        for event in events:
            if event["event"] == "epoch":
                event["train"].update((f"measure_{i}", [i]) for i in range(60_000))
        self.write("run/history.jsonl", "".join(json.dumps(event) + "\n" for event in events))
        code, found, _ = measured(DTNN_RUN, "report", "run", cwd=self.folder, timeout=60)
        self.assertEqual(code, 0, found)


class Names(CommandTest):
    BAD = "\x1b[31mred\x1b]0;title\x07\x7f\u009b"

    def safetensors(self, name, file_name="named.safetensors", metadata=None):
        header = {name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
        if metadata:
            header["__metadata__"] = metadata
        text = json.dumps(header).encode()
        with open(self.path(file_name), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + bytes(8))

    def assert_harmless(self, process):
        for text in (process.stdout, process.stderr):
            for character in self.BAD:
                if not character.isprintable():
                    self.assertNotIn(character, text)

    def test_long_names_are_refused_by_readers_and_writers(self):
        for length in (65_531, 65_532, 65_536, 4_001):
            self.safetensors("n" * length)
            self.expect(self.dtnn_run("weights", "export", "named.safetensors", "-o", "named.npz"), 5, "bytes")
            self.assertFalse(os.path.exists(self.path("named.npz")))
        self.safetensors("n" * 4_000)
        self.expect(self.dtnn_run("weights", "export", "named.safetensors", "-o", "named.npz"), 0)
        self.expect(self.dtnn_run("weights", "list", "named.npz"), 0, "n" * 4_000)

    def test_control_characters_are_shown_escaped(self):
        self.safetensors(self.BAD, metadata={"by": self.BAD})
        listed = self.expect(self.dtnn_run("weights", "list", "named.safetensors"), 0, "\\x1B[31mred")
        self.assert_harmless(listed)
        plan = self.compile()
        process = self.dtnn_run("evaluate", plan, "--weights", "named.safetensors")
        self.assertEqual(process.returncode, 5)
        self.assert_harmless(process)
        for command in (("check", self.BAD + ".yaml"), ("summary", self.BAD + ".json"), (self.BAD,)):
            process = self.dtnnc(*command)
            self.assertNotEqual(process.returncode, 0)
            self.assert_harmless(process)
        self.assert_harmless(self.dtnn_run(self.BAD + ".json"))
        # By way of a spec.
        name = json.dumps(self.BAD)
        self.write("named.yaml", self.read("tiny.yaml").replace("name: tiny\nmodel", f"name: {name}\nmodel"))
        for command in (("check",), ("summary",), ("resolve",), ("settings",), ("explain",)):
            process = self.dtnnc(*command, "named.yaml")
            self.assert_harmless(process)

    def test_forms_for_programs_keep_every_name(self):
        name = "a\u0085b\u009b\u202ec\x7f\u2028d"
        self.safetensors(name)
        listed = json.loads(self.expect(self.dtnn_run("weights", "list", "named.safetensors", "--format", "json"), 0).stdout)
        self.assertIn(name, json.dumps(listed, ensure_ascii=False))
        # A name that a spec may not have, in what is said of it.
        self.write("named.yaml", self.read("tiny.yaml").replace("name: tiny\nmodel", f"name: {json.dumps(name)}\nmodel"))
        for command in (("check", "named.yaml"), ("data", "named.yaml", "--no-step")):
            with self.subTest(command=command):
                self.assert_harmless(self.dtnnc(*command, "--format", "json"))
                json.loads(self.dtnnc(*command, "--format", "json").stdout)
        # One that data have: of a class.
        for split in ("train", "test"):
            for kind in (name, "other"):
                os.makedirs(self.path(f"photos/{split}/{kind}"))
                for i in range(2):
                    with open(self.path(f"photos/{split}/{kind}/{i}.png"), "wb") as file:
                        file.write(gray_png(8, 8))
        found = json.loads(self.expect(self.dtnnc("data", "photos", "--format", "json", "--write", "photos.yaml"), 0).stdout)
        self.assertEqual(sorted(found["class_names"]), sorted([name, "other"]))
        again = json.loads(self.expect(self.dtnnc("data", "photos.yaml", "--format", "json"), 0).stdout)
        self.assertEqual(again["class_names"], found["class_names"])

    def test_a_table_of_predictions_computes_nothing(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        name = "=cmd|' calc'!A0 \x1b[2J.png"
        with open(self.path(name), "wb") as file:
            file.write(gray_png(28, 28))
        process = self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", name,
                                            "-o", "answers.csv"), 0)
        line = self.read("answers.csv").splitlines()[1]
        self.assertTrue(line.startswith("0,'=cmd|' calc'!A0 \\x1B[2J.png,"), line)
        self.assert_harmless(process)

    def test_only_specs_are_shown(self):
        secret = "user:x:0:0:the secret\n"
        self.write("secret", secret)
        self.write("secret.yaml", "- " + secret)
        self.write("leads.yaml", "kind: job\nname: leads\nmodel: ./secret\ndataset: digits\ntraining: adam\n")
        self.write("extends.yaml", "kind: model\nextends: ./secret.yaml\n")
        for spec in ("leads.yaml", "extends.yaml", "secret"):
            process = self.dtnnc("check", spec)
            self.assertEqual(process.returncode, 3, process.stderr)
            self.assertNotIn("the secret", process.stderr + process.stdout)
        # The user's own spec is shown, whatever is wrong with it.
        self.write("own.yaml", "nome: job\n")
        self.expect(self.dtnnc("check", "own.yaml"), 3, "nome: job")


class Streams(CommandTest):
    def test_standard_error_that_cannot_be_written_changes_no_exit_code(self):
        plan = self.compile()
        self.write("bad.yaml", "kind: job\nnome: x\n")
        for place in ("2>&-", "2>/dev/full", ">&- 2>&-"):
            for command, code in ((f"{DTNNC} check bad.yaml", 3), (f"{DTNNC} nonsense", 2),
                                  (f"{DTNNC} explain nonsense", 2), (f"{DTNNC} check --nonsense", 2),
                                  (f"{DTNNC} compile tiny.yaml -o other.json", 0),
                                  (f"{DTNNC} graph tiny.yaml -o tiny.dot", 0),
                                  (f"{DTNNC} summary absent.json", 5), (f"{DTNNC} diff absent.json {plan}", 2),
                                  (f"{DTNN_RUN} absent.json", 5), (f"{DTNN_RUN} --nonsense", 2),
                                  (f"{DTNN_RUN} {plan} --output run --force", 0)):
                with self.subTest(command=command, place=place):
                    self.assertEqual(run("sh", "-c", f"{command} {place}", cwd=self.folder).returncode, code)
        # No message went into a file that had taken the number of the closed stream.
        self.assertEqual(self.read("other.json"), self.read("plan.json"))

    def test_help_that_cannot_be_written_is_a_failure(self):
        for command in (DTNNC, f"{DTNNC} summary", DTNN_RUN, f"{DTNN_RUN} train", f"{DTNN_RUN} weights list"):
            for option in ("--help", "--version"):
                if " " in command and option == "--version":
                    continue
                with self.subTest(command=command, option=option):
                    for place in (">/dev/full", ">&-"):
                        process = run("sh", "-c", f"{command} {option} {place}", cwd=self.folder)
                        self.assertEqual(process.returncode, 1, process.stderr)
                    process = run("sh", "-c", f"{command} {option}", cwd=self.folder)
                    self.assertEqual((process.returncode, process.stderr), (0, ""))
                    self.assertTrue(process.stdout)

    def test_a_deleted_folder_is_no_place_for_a_job(self):
        plan = self.compile()
        os.mkdir(self.path("gone"))
        process = run("sh", "-c", f"cd gone && rmdir ../gone && {DTNNC} slurm {plan}", cwd=self.folder)
        self.expect(process, 1, "current folder", "help:")

    @unittest.skipIf(MISSING, MISSING)
    def test_answers_of_ranks_are_alone_on_standard_output(self):
        self.write("ranks.yaml", self.read("tiny.yaml") + "parallel: {data: auto}\n")
        plan = self.compile(spec="ranks.yaml")
        # Both make MPI's libraries print to standard output.
        loud = {"MPIR_CVAR_DEBUG_SUMMARY": "1", "UCX_LOG_LEVEL": "info"}
        process = self.dtnn_run("bench", "--ranks", "2", plan, "--steps", "2", "--format", "json", env=loud)
        self.assertEqual(process.returncode, 0, process.stderr)
        json.loads(process.stdout)
        self.assertGreater(len(process.stderr), 100, "nothing was printed beside the answer")


    @unittest.skipIf(MISSING, MISSING)
    def test_ranks_outlive_streams_that_cannot_be_written(self):
        plan = self.compile("--set", "parallel.data=auto")
        for place, code in (("2>&-", 0), ("2>/dev/full", 0), (">&- 2>&-", 0), (">/dev/full", 1), ("| true", 0)):
            with self.subTest(place=place):
                process = run("bash", "-c", f"set -o pipefail; {DTNN_RUN} {plan} --ranks 2 -o run --force {place}",
                              cwd=self.folder)
                self.assertEqual(process.returncode, code, process.stderr)
                self.assertEqual(self.history("run")[-1]["event"], "evaluate")
                if code == 1:
                    self.assertIn("the answer is lost", process.stderr)
        # What they print comes through whole and in its order.
        process = self.expect(self.dtnn_run(plan, "--ranks", "2", "-o", "run", "--force"), 0)
        self.assertRegex(process.stdout, r"^test: loss .*\n$")
        self.assertLess(process.stderr.index("epoch 1/2"), process.stderr.index("weights  run/weights.safetensors"))


class ShortOf(CommandTest):
    """Limits that leave a program too little end in a message that names them."""

    def limited(self, limits, command):
        """As an ordinary user, whom the limit of processes counts for."""
        user = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if user and not shutil.which("setpriv"):
            self.skipTest("setpriv is not there to become an ordinary user")
        os.chmod(self.folder, 0o777)
        for name in os.listdir(self.folder):
            os.chmod(self.path(name), 0o666)
        process = run(*user, "bash", "-c", f"ulimit {limits}; exec {command}", cwd=self.folder, env={"HOME": self.folder})
        if "ulimit" in process.stderr and "cannot modify" in process.stderr or "Permission denied" in process.stderr:
            self.skipTest(process.stderr.splitlines()[0])
        return process

    def test_a_short_stack(self):
        for command in (f"{DTNNC} check tiny.yaml", f"{DTNN_RUN} {self.compile()} --dry-run"):
            self.expect(self.limited("-s 256", command), 1, "the stack may have 256 KiB (ulimit -s)", "ulimit -s 8192")
            self.expect(self.limited("-S -s 256", command), 0)

    def test_few_processes(self):
        plan = self.compile("--set", "parallel.data=auto")
        self.expect(self.limited("-u 1", f"{DTNN_RUN} {plan} -o one"), 1, "no more threads can be started", "ulimit -u")
        if not MISSING:
            self.expect(self.limited("-u 1", f"{DTNN_RUN} {plan} --ranks 2 -o two"), 1, "cannot start", "ulimit -u")

    @unittest.skipIf(SANITIZED, "a sanitizer needs more files than the test leaves")
    def test_few_files(self):
        self.expect(self.limited("-n 4", f"{DTNNC} compile tiny.yaml -o plan.json"), 1, "Too many open files", "ulimit -n")


class Runs(CommandTest):
    def start(self, plan, *options):
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "run", *options], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.wait_for(lambda: len(self.history("run")) > 1)
        return process

    def wait_for(self, condition):
        deadline = time.monotonic() + limit(60)
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        self.fail("waited for 60 s")

    def test_a_removed_folder_is_made_again_and_that_is_said(self):
        plan = self.compile("--set", "training.epochs=100000")
        process = self.start(plan)
        os.rename(self.path("run"), self.path("gone"))
        self.wait_for(lambda: len(self.history("run")) > 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, out + err)
        self.assertIn("was removed while the run writes it", err)
        events = self.history("run")
        epochs = [event["epoch"] for event in events if event["event"] == "epoch"]
        self.assertEqual(epochs, list(range(1, len(epochs) + 1)))
        self.assertEqual([events[0]["event"], events[-1]["event"]], ["start", "interrupted"])
        for name in ("plan.json", "resolved.yaml", "weights.safetensors"):
            self.assertTrue(os.path.exists(self.path("run/" + name)), name)
        self.expect(self.dtnn_run("report", "run"), 0)

    def test_a_folder_that_cannot_be_made_again_fails_the_run(self):
        plan = self.compile("--set", "training.epochs=100000")
        process = self.start(plan)
        os.rename(self.path("run"), self.path("gone"))
        self.write("run", "a file is in the way")
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("run", err)

    def test_a_hangup_stops_a_run_as_a_termination_does(self):
        plan = self.compile("--set", "training.epochs=100000")
        process = self.start(plan)
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, out + err)
        self.assertTrue(os.listdir(self.path("run/checkpoints")))
        self.expect(self.dtnn_run("weights", "list", "run"), 0)


class StrangersFolder(CommandTest):
    """A run's folder may come from someone else: nothing that is written into it goes anywhere else."""

    WRITTEN = ("plan.json", "resolved.yaml", "history.jsonl", "history.csv", "report.html", "operator_times.txt",
               "weights.safetensors", "weights_average.safetensors", "checkpoints", "best", "tensorboard", "ended",
               "checkpoints/latest", "checkpoints/0000000005", "checkpoints/0000000005/state.json",
               "checkpoints/0000000005/parameters.safetensors", "checkpoints/.writing-0000000015", "best/loss",
               "best/loss/epoch_1.safetensors", "tensorboard/events.out.tfevents.1.dtnn", "ended/epoch_2.json")

    def plant(self, name):
        """A link in the folder `run` to what is someone else's; a copy of the run that was there stays in `sound`."""
        place = self.path("run/" + name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.isdir(place):
            shutil.rmtree(place)
        elif os.path.exists(place):
            os.remove(place)
        os.symlink(self.path("victim"), place)

    def test_links_where_a_run_or_a_report_writes_are_refused(self):
        plan = self.compile("--set", "training.epochs=2", "--set", "training.checkpoint={every_epochs: 1}")
        self.expect(self.dtnn_run(plan, "--output", "sound"), 0)
        self.write("victim", "precious")
        for name in self.WRITTEN:
            shutil.rmtree(self.path("run"), ignore_errors=True)
            shutil.copytree(self.path("sound"), self.path("run"))
            self.plant(name)
            for command in (("report", "run"), ("--resume", "run"), ("--resume", "run", "--epochs", "+1"),
                            (plan, "--output", "run", "--force"), (plan, "--output", "run")):
                with self.subTest(name=name, command=command):
                    self.expect(self.dtnn_run(*command), 1, f"run/{name} is a link", "remove it")
                    self.assertEqual(self.read("victim"), "precious")
        # What the folder itself is reached by is the user's own, and so is a page that has a name.
        os.symlink(self.path("sound"), self.path("way"))
        self.expect(self.dtnn_run("report", "way"), 0)
        os.remove(self.path("run/" + self.WRITTEN[-1]))
        self.expect(self.dtnn_run("report", "run", "-o", "victim"), 0)
        self.assertNotEqual(self.read("victim"), "precious")

    def test_links_at_names_that_nobody_gave_are_refused(self):
        self.write("victim", "precious")
        os.symlink(self.path("victim"), self.path("tiny.plan.json"))
        self.expect(self.dtnnc("compile", "tiny.yaml"), 1, "tiny.plan.json", "it is a link", "-o")
        os.symlink(self.path("victim"), self.path("dtnnc-failure.txt"))
        process = self.dtnnc("compile", "tiny.yaml", "-o", "p.json", env={"DTNN_BREAK_AFTER": "layout"})
        self.expect(process, 70, "dtnnc-failure.txt", "it is a link")
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "a"), 0)
        self.expect(self.dtnn_run(plan, "--output", "b"), 0)
        os.symlink(self.path("victim"), self.path("comparison.html"))
        self.expect(self.dtnn_run("report", "a", "b"), 1, "comparison.html is a link")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.seed=1,2", "-o", "seeds"), 0)
        for name in ("runs", "results.csv"):
            os.symlink(self.path("victim"), self.path("seeds/" + name))
            self.expect(self.dtnn_run("sweep", "seeds"), 1, f"seeds/{name} is a link")
            os.remove(self.path("seeds/" + name))
        self.assertEqual(self.read("victim"), "precious")

    def test_force_removes_what_a_run_wrote_and_no_other_file(self):
        plan = self.compile("--set", "training.checkpoint={every_epochs: 1}")
        self.expect(self.dtnn_run(plan, "--output", "run", "--tensorboard"), 0)
        os.makedirs(self.path("run/best/loss"))
        self.write("run/notes.txt", "mine")
        for name in ("checkpoints/notes.txt", "best/loss/mine.safetensors", "checkpoints/0000000005/notes.txt"):
            os.makedirs(os.path.dirname(self.path("run/" + name)), exist_ok=True)
            self.write("run/" + name, "mine")
            before = sorted(os.walk(self.path("run")))
            self.expect(self.dtnn_run(plan, "--output", "run", "--force"), 1, f"run/{name} is no file of a run")
            self.assertEqual(sorted(os.walk(self.path("run"))), before)
            os.remove(self.path("run/" + name))
        self.expect(self.dtnn_run(plan, "--output", "run", "--force"), 0)
        self.assertEqual(self.read("run/notes.txt"), "mine")
        self.assertFalse(os.path.exists(self.path("run/tensorboard")))

    def test_what_a_kill_left_half_written_goes_with_the_next_resume(self):
        plan = self.compile("--set", "training.checkpoint={every_epochs: 1}")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        os.makedirs(self.path("run/best/loss"))
        half = ".0123456789abcdef.part"
        left = ["weights.safetensors", "history.csv", "checkpoints/latest", "best/loss/epoch_3.safetensors"]
        kept = ["run/report.html" + half, "run/notes" + half, "run/weights.safetensors.part"]
        for name in left:
            self.write(f"run/{name}{half}", "half")
        for name in kept:
            self.write(name, "not ours, or another process writes it now")
        self.expect(self.dtnn_run("--resume", "run"), 0)
        for name in left:
            self.assertFalse(os.path.exists(self.path(f"run/{name}{half}")), name)
        for name in kept:
            self.assertTrue(os.path.exists(self.path(name)), name)


if __name__ == "__main__":
    sys.exit(unittest.main())
