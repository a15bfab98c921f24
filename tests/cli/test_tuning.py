"""`dtnnc tune`, and what compilations and `explain` make of the times: as a user runs them."""

import json
import os
import subprocess
import unittest

from commands import DTNN_RUN, DTNNC, CommandTest, limit

JOB = """kind: job
name: small
model:
  input: {shape: [8, 14, 14]}
  layers:
    - conv2d: {filters: 24, kernel: 3, padding: same}
    - relu
    - max_pool2d: {kernel: 2}
    - flatten
    - dense: {units: 10}
    - softmax
dataset: {type: synthetic, shape: [8, 14, 14], classes: 10, train_samples: 64, test_samples: 32}
training: {optimizer: sgd, batch_size: 32, epochs: 1, loss: categorical_cross_entropy}
"""


class Tuning(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", JOB)

    def tune(self, *arguments, source="small.yaml"):
        return self.expect(self.dtnnc("tune", source, "--tuning", "times.json", "--repeats", "3", *arguments), 0)

    def times(self, name="times.json"):
        return json.loads(self.read(name))

    def forge(self, op, kernel):
        """Times by which the kernel is the fastest of every problem of the operator."""
        history = self.times()
        for entry in history["entries"]:
            for time in entry["times"] if entry["problem"].startswith(op + " ") else []:
                seconds = 1e-6 if time["kernel"] == kernel else 1e-3
                time.update(median=seconds, low=seconds, high=seconds)
        self.write("times.json", json.dumps(history))

    def test_a_network_is_tuned_compiled_and_explained(self):
        told = self.tune("--threads", "1")
        self.assertIn("conv2d_1.conv2d_backward_weights", told.stdout)
        self.assertRegex(told.stderr, r"\d+ problems with several kernels: \d+ measured in [\d.]+ (us|ms|s), 0 known before")
        history = self.times()
        self.assertEqual(history["format"], "dtnn-tuning")
        for entry in history["entries"]:
            self.assertIn(" on 1 threads of ", entry["problem"])
            for time in entry["times"]:
                self.assertTrue(0 < time["low"] <= time["median"] <= time["high"])

        self.forge("conv2d_backward_weights", "direct")
        self.expect(self.dtnnc("compile", "small.yaml", "--threads", "1", "--tuning", "times.json", "-o", "tuned.json"), 0,
                    "by measured times")
        said = self.expect(self.dtnnc("explain", "tuned.json", "backward_weights"), 0,
                           "`direct` of conv2d_1.conv2d_backward_weights; measured: 1.000 us", "it was measured slower")
        self.assertRegex(said.stdout, r"winograd_4x4 +1\.000 ms")
        choices = json.loads(self.dtnnc("explain", "tuned.json", "--format", "json").stdout)["choices"]
        chosen = [c for c in choices if c["operator"] == "conv2d_backward_weights"]
        self.assertEqual([(c["kernel"], c["seconds"]) for c in chosen], [("direct", 1e-6)])
        self.expect(self.dtnnc("explain", "tuned.json", "nonsense"), 2, "holds `nonsense`", "help:")
        self.expect(self.dtnnc("explain", "conv2d", "direct"), 2, "is of a plan")

        # Without the times all is as before there were any.
        self.expect(self.dtnnc("compile", "small.yaml", "--threads", "1", "--no-tuning", "-o", "plain.json"), 0)
        self.expect(self.dtnnc("compile", "small.yaml", "--threads", "1", "-o", "untuned.json"), 0)
        self.assertEqual(self.read("plain.json"), self.read("untuned.json"))
        self.assertNotEqual(self.read("plain.json"), self.read("tuned.json"))
        self.expect(self.dtnnc("explain", "plain.json"), 0)
        self.assertNotIn("measured", self.dtnnc("explain", "plain.json").stdout)
        self.expect(self.dtnnc("diff", "plain.json", "tuned.json"), 1, "performance only")

        # A run computes by the plan alone.
        for name, env in (("a", {"DTNN_TUNING": ""}), ("b", {"DTNN_TUNING": self.path("times.json")})):
            self.expect(self.dtnn_run("tuned.json", "--output", name, env=env), 0)
        weights = []
        for name in ("a", "b"):
            with open(self.path(f"{name}/weights.safetensors"), "rb") as file:
                weights.append(file.read())
        self.assertEqual(*weights)

    def test_what_was_measured_in_quiet_is_not_measured_again(self):
        self.tune("--threads", "1")
        history = self.times()
        for entry in history["entries"]:
            entry["idle"] = True
        count = len(history["entries"])
        self.write("times.json", json.dumps(history))
        self.assertRegex(self.tune("--threads", "1").stderr, rf" 0 measured in [\d.]+ (us|ms|s), {count} known before")
        self.assertIn(f"{count} measured", self.tune("--threads", "1", "--again").stderr)
        history["entries"][0]["idle"] = False
        self.write("times.json", json.dumps(history))
        self.assertIn(" 1 measured in ", self.tune("--threads", "1").stderr)
        # Times of other numbers of threads are unknown; known ones stay.
        self.assertIn(", 0 known before", self.tune("--threads", "2").stderr)
        self.assertEqual(len(self.times()["entries"]), 2 * count)

    def test_a_plan_is_tuned_where_it_is(self):
        self.expect(self.dtnnc("compile", "small.yaml", "--threads", "1", "-o", "plan.json"), 0)
        self.tune(source="plan.json")
        problems = {entry["problem"] for entry in self.times()["entries"]}
        self.tune("--threads", "1", "-o", "tuned.json")
        self.assertEqual({entry["problem"] for entry in self.times()["entries"]}, problems)
        self.expect(self.dtnnc("explain", "tuned.json"), 0, "measured: ")
        self.expect(self.dtnnc("tune", "plan.json", "-o", "other.json"), 2, "tune its spec")
        self.expect(self.dtnnc("tune", "plan.json", "--set", "epochs=1"), 2, "--set")
        self.expect(self.dtnnc("tune", "absent.yaml"), 2, "no such file")

    def test_histories_that_are_none(self):
        self.write("bad.json", '{"format": "dtnn-tuning", "version": 1, "entries": [{}]}')
        plan = ["-o", "plan.json", "--threads", "1"]
        for arguments, env in ((["--tuning", "bad.json"], {}), ([], {"DTNN_TUNING": self.path("bad.json")})):
            self.expect(self.dtnnc("compile", "small.yaml", *plan, *arguments, env=env), 2,
                        "bad.json: entry 0: it has 0 members, not 5", "help:")
        before = self.read("bad.json")
        self.expect(self.dtnnc("tune", "small.yaml", "--tuning", "bad.json"), 2, "bad.json: entry 0")
        self.assertEqual(self.read("bad.json"), before)
        self.expect(self.dtnnc("compile", "small.yaml", *plan, "--tuning", "absent.json"), 2, "absent.json")
        self.expect(self.dtnnc("compile", "small.yaml", *plan, "--tuning", "."), 2, "cannot read .")
        # The usual place: whoever did not name the file is only warned.
        self.write("tuning.json", "nonsense")

        def usual_place(*arguments):
            environment = {name: value for name, value in os.environ.items() if name != "DTNN_TUNING"}
            environment.update(DTNN_CACHE_DIR=self.folder, NO_COLOR="1")
            return subprocess.run([DTNNC, *arguments], cwd=self.folder, env=environment, text=True,
                                  capture_output=True, timeout=limit(120))

        self.expect(usual_place("compile", "small.yaml", "-o", "warned.json", "--threads", "1"), 0,
                    "warning: ", "tuning.json", "kernels are chosen without it")
        self.expect(self.dtnnc("compile", "small.yaml", "-o", "plain.json", "--threads", "1"), 0)
        self.assertEqual(self.read("warned.json"), self.read("plain.json"))

    def test_times_are_of_a_processor(self):
        self.tune("--threads", "1")
        history = self.times()
        for entry in history["entries"]:
            entry["processor"] = "Another: 5000 @ 3 GHz"
        self.write("times.json", json.dumps(history))
        common = ["--threads", "1", "--tuning", "times.json"]
        self.compile(*common, spec="small.yaml", plan="foreign.json")
        self.compile("--threads", "1", "--no-tuning", spec="small.yaml", plan="plain.json")
        self.assertEqual(self.read("foreign.json"), self.read("plain.json"))
        there = ["--set", "machine={name: there, isa: %s, processor: 'Another: 5000 @ 3 GHz'}" %
                 history["entries"][0]["problem"].split()[-1]]
        self.expect(self.dtnnc("compile", "small.yaml", *common, *there, "-o", "there.json"), 0, "by measured times")
        resolved = self.expect(self.dtnnc("resolve", "small.yaml", *there), 0)
        self.write("resolved.yaml", resolved.stdout)
        self.expect(self.dtnnc("compile", "resolved.yaml", *common, "-o", "there.json"), 0, "by measured times")

    def test_a_job_prefers_blis(self):
        blis = ["--set", "kernels.prefer=blis", "--threads", "1", "-o", "plan.json"]
        self.expect(self.dtnnc("compile", "small.yaml", *blis, "--isa", "baseline"), 3, "--set kernels.prefer=blis",
                    "`prefer` of kernels is `blis`, whose kernels need avx2", "--isa avx2")
        self.expect(self.dtnnc("compile", "small.yaml", *blis[:2], "--target", "cuda"), 3, "which is of the cpu")
        self.expect(self.dtnnc("compile", "small.yaml", "--set", "kernels.prefer=blas"), 3, "did you mean `blis`?")
        self.expect(self.dtnnc("compile", "small.yaml", *blis, "--isa", "avx2"), 0)
        choices = json.loads(self.dtnnc("explain", "plan.json", "dense", "--format", "json").stdout)["choices"]
        self.assertEqual({choice["kernel"] for choice in choices if choice["operator"].startswith("dense")}, {"blis"})
        # The wish is in the resolved document, with where it came from.
        resolved = self.expect(self.dtnnc("resolve", "small.yaml", *blis[:2]), 0, "kernels:", "prefer: blis")
        self.write("resolved.yaml", resolved.stdout)
        self.expect(self.dtnnc("compile", "resolved.yaml", "--threads", "1", "--isa", "avx2", "-o", "again.json"), 0)
        self.expect(self.dtnnc("diff", "plan.json", "again.json"), 0)
        self.expect(self.dtnnc("diff", "small.yaml", "resolved.yaml"), 1, "kernels.prefer")

    def test_the_plan_chooses_the_kernels_of_blis(self):
        # BLIS would take its kernels by the processor or by this variable; a plan's bits are to depend on neither.
        self.expect(self.dtnnc("compile", "small.yaml", "--set", "kernels.prefer=blis", "--threads", "1", "--isa", "avx2",
                               "-o", "plan.json"), 0)
        weights = []
        for processor in ("", "0", "6"):  # BLIS 0.9: what it finds, skx, zen3
            environment = dict(os.environ)
            environment.pop("BLIS_ARCH_TYPE", None)
            if processor:
                environment["BLIS_ARCH_TYPE"] = processor
            result = subprocess.run([DTNN_RUN, "plan.json", "--output", "run" + processor], cwd=self.folder, env=environment,
                                    text=True, capture_output=True, timeout=limit(120))
            if result.returncode == 5 and "avx2" in result.stderr:
                self.skipTest("this machine, or this build, has no avx2")
            self.expect(result, 0)
            with open(os.path.join(self.folder, "run" + processor, "weights.safetensors"), "rb") as file:
                weights.append(file.read())
        self.assertEqual(len(set(weights)), 1)

    def test_a_history_that_cannot_be_written_is_found_before_measuring(self):
        for place in ("absent/times.json", "/proc/times.json"):
            refused = self.expect(self.dtnnc("tune", "small.yaml", "--threads", "1", "--tuning", place), 1, "cannot write",
                                  place)
            self.assertEqual(refused.stdout, "")
        self.expect(self.dtnnc("tune", "small.yaml", "--tuning", "-"), 2, "name a file")
        self.assertFalse(os.path.exists(self.path("-")))

    def test_a_device_that_is_not_there_has_a_remedy(self):
        self.expect(self.dtnnc("compile", "small.yaml", "--target", "cuda", "-o", "device.json"), 0)
        done = self.dtnnc("tune", "device.json", "-o", "tuned.json")
        if done.returncode != 0:  # no device here, or a program without CUDA
            self.expect(done, 5, "cuda", "help:")
            self.assertFalse(os.path.exists(self.path("tuned.json")))

    def test_instruction_sets_that_the_program_was_built_without(self):
        for isa in ("baseline", "avx2", "avx512"):
            done = self.dtnnc("tune", "small.yaml", "--tuning", isa + ".json", "--repeats", "1", "--isa", isa)
            if done.returncode == 0:
                self.assertIn("conv2d_1.conv2d", done.stdout)
            else:
                self.expect(done, 2, f"small.yaml is for {isa}, and this", "help:")
                self.assertFalse(os.path.exists(self.path(isa + ".json")))

    def test_several_tune_at_once(self):
        # Each adds what the others have not measured, and loses nothing of theirs.
        runs = []
        for batch in range(1, 9):
            environment = dict(os.environ, DTNN_TUNING="", NO_COLOR="1")
            runs.append(subprocess.Popen(
                [DTNNC, "tune", "small.yaml", "--tuning", "times.json", "--repeats", "1", "--threads", "1", "--set",
                 f"training.batch_size={batch}"], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))
        for one in runs:
            self.assertEqual(one.wait(limit(120)), 0)
        batches = {entry["problem"].split("[")[1].split(",")[0] for entry in self.times()["entries"]
                   if entry["problem"].startswith("conv2d f32")}
        self.assertGreaterEqual(batches, {str(batch) for batch in range(1, 9)})

    def test_a_tuned_plan_that_does_not_fit_is_refused(self):
        self.write("small.yaml", JOB + "memory_budget: 1KiB\n")
        self.expect(self.dtnnc("tune", "small.yaml", "--tuning", "times.json", "-o", "tuned.json"), 4, "over-budget")
        self.assertFalse(os.path.exists(self.path("tuned.json")))

    def test_names_that_no_kernel_has_choose_nothing(self):
        self.tune("--threads", "1")
        history = self.times()
        for entry in history["entries"]:
            entry["times"].append({"kernel": "nonsense", "median": 1e-9, "low": 1e-9, "high": 1e-9, "calls": 1})
            entry["times"].append({"kernel": "reference", "median": 1e-9, "low": 1e-9, "high": 1e-9, "calls": 1})
        self.write("times.json", json.dumps(history))
        self.compile("--tuning", "times.json", "--threads", "1", spec="small.yaml")
        for choice in json.loads(self.dtnnc("explain", "plan.json", "--format", "json").stdout)["choices"]:
            self.assertNotEqual(choice["kernel"], "nonsense")
            if choice["seconds"]:
                self.assertGreater(choice["seconds"], 1e-8)


if __name__ == "__main__":
    unittest.main()
