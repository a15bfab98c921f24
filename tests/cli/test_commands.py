#!/usr/bin/env python3
"""The commands as a user runs them: outputs, files, and every exit code that can occur."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import BIN, DTNNC, DTNN_RUN, ROOT, CommandTest, limit, run


class Compiler(CommandTest):
    def test_version_and_help(self):
        for program in (DTNNC, DTNN_RUN):
            self.expect(run(program, "--version"), 0, "0.2.0")
            self.expect(run(program, "--help"), 0, "Usage")

    def test_usage_errors_are_two(self):
        self.expect(self.dtnnc(), 2)
        self.expect(self.dtnnc("compil", "tiny.yaml"), 2)
        self.expect(self.dtnnc("compile", "tiny.yaml", "--disable", "fuse_epilogue"), 2, "fuse_epilogues")
        self.expect(self.dtnnc("explain", "covn2d"), 2, "conv2d")
        self.expect(self.dtnn_run(), 2)
        self.expect(self.dtnn_run("--no-such-option"), 2)

    def test_lints_warn_and_can_be_errors_or_silent(self):
        self.write("odd.yaml", self.read("tiny.yaml").replace("    - softmax\n", "    - softmax\n    - softmax\n"))
        said = self.expect(self.dtnnc("check", "odd.yaml"), 0).stderr
        self.assertIn("odd.yaml:13:7: warning:", said)
        self.assertIn("[softmax-twice]", said)
        self.assertIn("error:", self.expect(self.dtnnc("check", "odd.yaml", "--strict"), 3).stderr)
        allowed = self.expect(self.dtnnc("check", "odd.yaml", "--strict", "--allow", "softmax-twice"), 0)
        self.assertEqual(allowed.stderr, "")
        self.expect(self.dtnnc("compile", "odd.yaml", "--strict", "-o", "odd.json"), 3, "[softmax-twice]")
        self.assertFalse(os.path.exists(self.path("odd.json")))
        self.expect(self.dtnnc("compile", "odd.yaml", "-o", "odd.json"), 0, "[softmax-twice]")
        self.assertTrue(os.path.exists(self.path("odd.json")))
        self.expect(self.dtnnc("check", "tiny.yaml", "--sweep", "training.shuffle=true,false", "--strict"), 3,
                    "[no-shuffle]")
        self.expect(self.dtnnc("check", "odd.yaml", "--allow", "softmax-twise"), 2, "did you mean `softmax-twice`")
        self.expect(self.dtnnc("explain", "softmax-twice"), 0)

    def test_check_writes_nothing_and_says_what_is_well(self):
        before = sorted(os.listdir(self.folder))
        process = self.expect(self.dtnnc("check", "tiny.yaml"), 0)
        self.assertRegex(process.stdout, r"\Atiny\.yaml: ok: 5 layers, 7,\d{3} parameters, 2 epochs of 5 steps, "
                                         r"\d+\.\d (K|M)iB a rank\n\Z")
        self.assertEqual(self.expect(self.dtnnc("check", "-q", "tiny.yaml"), 0).stdout, "")
        self.assertEqual(json.loads(self.expect(self.dtnnc("check", "tiny.yaml", "--format", "json"), 0).stdout)["errors"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_check_says_what_every_kind_comes_to(self):
        process = self.expect(self.dtnnc("check", "simplemlp", "digits", "adam", "laptop", "mish", "focal"), 0)
        lines = process.stdout.splitlines()
        self.assertEqual(len(lines), 6)
        for line, start in zip(lines, ("simplemlp: ok: model: ", "digits: ok: dataset: 10,000 training and 2,000 test",
                                       "adam: ok: training: adam, learning rate 0.001", "laptop: ok: machine: 1 node of",
                                       "mish: ok: operator: ", "focal: ok: loss: ")):
            self.assertTrue(line.startswith(start), line)

    def test_check_says_what_compiling_would(self):
        self.write("small.yaml", self.read("tiny.yaml") + "memory_budget: 10KiB\n")
        process = self.expect(self.dtnnc("check", "tiny.yaml", "small.yaml"), 4, "memory_budget", "help:")
        self.assertRegex(process.stdout, r"\Atiny\.yaml: ok: [^\n]*\n\Z")
        # A job that only devices can run is no mistake.
        self.write("half.yaml", self.read("tiny.yaml").replace("epochs: 2", "epochs: 2, compute: fp16"))
        self.assertIn(" of the device and ", self.expect(self.dtnnc("check", "half.yaml"), 0).stdout)

    def test_invalid_spec_is_three_with_place_and_remedy(self):
        self.write("bad.yaml", self.read("tiny.yaml").replace("filters: 4", "filtres: 4"))
        for command in ("check", "compile", "summary"):
            process = self.expect(self.dtnnc(command, "bad.yaml"), 3, "bad.yaml:8:16: error:", "[unknown-field]",
                                  "did you mean `filters`?")
            self.assertIn("^~~~~~~", process.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.yaml", "tiny.yaml"])

    def test_set_is_checked_like_the_file(self):
        self.expect(self.dtnnc("check", "tiny.yaml", "--set", "training.batch_size=0"), 3, "batch_size")
        self.expect(self.dtnnc("check", "tiny.yaml", "--set", "training.batch_sise=4"), 3, "did you mean")

    def test_over_the_memory_budget_is_four(self):
        self.expect(self.dtnnc("compile", "tiny.yaml", "--memory-budget", "10KiB"), 4, "memory", "help:")
        self.assertEqual(os.listdir(self.folder), ["tiny.yaml"])

    def test_missing_and_unreadable_files(self):
        self.expect(self.dtnnc("check", "nothing.yaml"), 2, "nothing.yaml")
        os.mkdir(self.path("folder.yaml"))
        self.expect(self.dtnnc("check", "folder.yaml"), 2, "folder.yaml")
        if os.geteuid() == 0:
            print("skipped: permissions do not bind root", file=sys.stderr)
            return
        os.chmod(self.path("tiny.yaml"), 0)
        self.expect(self.dtnnc("check", "tiny.yaml"), 2, "tiny.yaml")

    def test_same_input_gives_the_same_bytes(self):
        digests = set()
        for name in ("a.json", "b.json"):
            with open(self.compile(plan=name), "rb") as file:
                digests.add(hashlib.sha256(file.read()).hexdigest())
        self.assertEqual(len(digests), 1)
        printed = self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "-"), 0)
        self.assertEqual(printed.stdout, self.read("a.json"))

    def test_a_full_disk_and_a_closed_pipe(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.dtnnc("compile", "tiny.yaml", "-o", "-", stdout=full)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("No space left", process.stderr)
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "no/such/folder/plan.json"), 1, "no/such/folder")
        reader, writer = os.pipe()
        os.close(reader)
        for command in (("compile", "tiny.yaml", "-o", "-"), ("resolve", "tiny.yaml"), ("explain", "conv2d")):
            process = self.dtnnc(*command, stdout=writer)
            self.assertEqual((process.returncode, process.stderr), (1, ""), command)
        os.close(writer)

    def test_a_comparison_that_cannot_be_told_is_trouble(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.dtnnc("diff", "tiny.yaml", "tiny.yaml", "--set", "training.epochs=7", "--format", "json",
                                 stdout=full)
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertIn("No space left", process.stderr)

    def test_a_bound_is_told_as_it_is(self):
        for command, option, value, lowest in (("summary", "--depth", "0", 1), ("graph", "--depth", "two", 1),
                                               ("check", "--max-errors", "-1", 0)):
            process = self.expect(self.dtnnc(command, "tiny.yaml", option, value), 2)
            self.assertIn(f"{option}: {value} is not an integer of at least {lowest}\n", process.stderr)

    def test_summary_counts_the_reference_models(self):
        for model, parameters in (("simplecnn", 202458), ("simplemlp", 932362), ("vgg16_cifar10", 15245130),
                                  ("alexnet_cifar10", 23272266)):
            process = self.expect(self.dtnnc("summary", os.path.join(ROOT, "specs", "models", "pydtnn", model + ".yaml"),
                                             "--format", "json"), 0)
            summary = json.loads(process.stdout)
            self.assertEqual(summary["parameters"]["total"], parameters, model)
            self.assertEqual(sum(layer["parameters"] for layer in summary["layers"]), parameters, model)
            for key in ("version", "name", "memory", "work"):
                self.assertIn(key, summary)
            for key in ("index", "name", "type", "parameters", "output_shape", "weights_shape", "attributes"):
                self.assertIn(key, summary["layers"][0])

    def test_diff(self):
        first = self.compile()
        self.expect(self.dtnnc("diff", first, first), 0)
        self.expect(self.dtnnc("diff", "tiny.yaml", first), 0)
        second = self.compile("--set", "training.batch_size=32", plan="second.json")
        self.expect(self.dtnnc("diff", first, second), 1, "training.batch_size", "64", "32", "mathematics")
        report = json.loads(self.expect(self.dtnnc("diff", first, second, "--format", "json"), 1).stdout)
        self.assertTrue(report)
        third = self.compile("--disable", "fuse_epilogues", plan="third.json")
        process = self.expect(self.dtnnc("diff", first, third), 1, "performance")
        self.assertNotIn("changes the mathematics", process.stdout)
        self.expect(self.dtnnc("diff", first, "nothing.json"), 2)
        # Only specs can be set.
        self.expect(self.dtnnc("diff", first, second, "--set", "training.epochs=9"), 2, "two plans")
        self.expect(self.dtnnc("summary", first, "--set", "training.epochs=9"), 2, "is a plan")
        self.write("threads.yaml", "kind: job\nextends: ./tiny.yaml\nthreads: 3\n")
        other = self.compile("--threads", "2", plan="threads.json")
        self.expect(self.dtnnc("diff", other, "threads.yaml"), 1, "threads: 2 -> 3")

    def test_explain_and_emit(self):
        self.expect(self.dtnnc("explain", "conv2d"), 0, "filters", "padding")
        self.expect(self.dtnnc("explain", "unknown-field"), 0)
        self.expect(self.dtnnc("explain", "in_place"), 0, "--disable in_place")
        self.expect(self.dtnnc("explain", "fuse_epilogues"), 0)
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "plan.json", "--emit", "differentiate"), 0,
                    "conv2d_backward_weights")

    def test_an_internal_error_is_seventy(self):
        process = self.dtnnc("compile", "tiny.yaml", env={"DTNN_BREAK_AFTER": "fuse_epilogues"})
        self.expect(process, 70, "internal error", "please report", "fuse_epilogues")
        self.assertNotIn("tiny.plan.json", os.listdir(self.folder))


class Runtime(CommandTest):
    def test_training_writes_a_run(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        self.assertEqual(sorted(os.listdir(self.path("run"))),
                         ["checkpoints", "history.csv", "history.jsonl", "plan.json", "resolved.yaml", "weights.safetensors"])
        events = self.history("run")
        epochs = [e for e in events if e["event"] == "epoch"]
        self.assertEqual([e["epoch"] for e in epochs], [1, 2])
        for epoch in epochs:
            for key in ("step", "learning_rate", "train", "validation", "samples_per_second"):
                self.assertIn(key, epoch)
            self.assertIn("categorical_accuracy", epoch["train"])
            self.assertIn("loss", epoch["validation"])
        self.assertEqual(epochs[-1]["step"], 2 * ((270 + 63) // 64))
        (evaluation,) = [e for e in events if e["event"] == "evaluate"]
        self.assertIn("categorical_accuracy", evaluation["test"])
        process = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--format",
                                            "json"), 0)
        again = json.loads(process.stdout)
        self.assertEqual(again["test"], evaluation["test"])
        # The resolved spec is a spec, and gives the same plan but for places.
        self.expect(self.dtnnc("diff", "run/resolved.yaml", plan), 0)
        # A finished run is not overwritten.
        self.expect(self.dtnn_run(plan, "--output", "run"), 1, "run")

    def test_a_batch_larger_than_the_samples_is_all_of_them(self):
        process = self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "big.json", "--set", "training.batch_size=1000"), 0)
        self.assertIn("warning: `batch_size` 1000 is more than the 270 training samples (300 less 30 for validation); an "
                      "epoch is one batch of 270", process.stderr)
        whole = self.compile("--set", "training.batch_size=270", plan="whole.json")
        for plan, folder in ((self.path("big.json"), "big"), (whole, "whole")):
            self.expect(self.dtnn_run(plan, "--output", folder, "--progress", "none"), 0)
            self.assertEqual([event["step"] for event in self.history(folder) if event["event"] == "epoch"], [1, 2])
        with open(self.path("big/weights.safetensors"), "rb") as big, open(self.path("whole/weights.safetensors"),
                                                                          "rb") as whole_weights:
            self.assertEqual(big.read()[-1000:], whole_weights.read()[-1000:])
        # Ranks would be left with nothing to do.
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "no.json", "--set", "training.batch_size=200", "--ranks",
                               "2"), 3, "too-few-samples")

    def test_twice_the_same_bits(self):
        plan = self.compile()
        weights, histories = [], []
        for name in ("one", "two"):
            self.expect(self.dtnn_run(plan, "--output", name), 0)
            with open(self.path(f"{name}/weights.safetensors"), "rb") as file:
                weights.append(file.read())
            histories.append([(e["train"], e["validation"]) for e in self.history(name) if e["event"] == "epoch"])
        self.assertEqual(weights[0], weights[1])
        self.assertEqual(histories[0], histories[1])

    def test_packed_weights_change_no_bit_and_follow_the_training(self):
        histories, answers = [], []
        for name, words in (("packed", ()), ("plain", ("--disable", "pack_weights"))):
            self.expect(self.dtnnc("compile", "tiny.yaml", "-o", f"{name}.json", "--set", "training.epochs=3", *words), 0)
            with open(self.path(f"{name}.json"), encoding="utf-8") as file:
                programs = json.load(file)["programs"]
            packs = {program["kind"]: any(step["op"] == "pack_weights" for step in program.get("prologue", []))
                     for program in programs}
            self.assertEqual([kind for kind, packed in packs.items() if packed],
                             ["evaluate", "predict"] if name == "packed" else [])
            self.expect(self.dtnn_run(f"{name}.json", "--output", name), 0)
            self.expect(self.dtnn_run("predict", f"{name}.json", "--weights", f"{name}/weights.safetensors", "--input",
                                      "test", "-o", f"{name}.csv"), 0)
            answers.append(self.read(f"{name}.csv"))
            histories.append([(e["train"], e["validation"]) for e in self.history(name) if e["event"] == "epoch"])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(histories[0], histories[1])
        # Every pass packs the weights of its epoch.
        losses = [validation["loss"] for _, validation in histories[0]]
        self.assertEqual(len(set(losses)), 3, losses)

    def test_bench(self):
        plan = self.compile("--threads", "2")
        process = self.expect(self.dtnn_run("bench", plan, "--steps", "5", "--format", "json",
                                            env={"OMP_NUM_THREADS": "1"}), 0)
        bench = json.loads(process.stdout)
        self.assertEqual(bench["arena_bytes"]["planned"], bench["arena_bytes"]["allocated"])
        self.assertEqual(bench["allocations_after_first_step"], 0)
        self.assertEqual(bench["threads"], 1)
        self.assertGreater(bench["samples_per_second"]["median"], 0)
        self.assertGreater(bench["peak_rss_bytes"], 0)
        self.assertEqual(bench["program"], "train")

    def test_bench_of_inference(self):
        plan = self.compile()
        with open(plan, encoding="utf-8") as file:
            programs = {program["kind"]: program for program in reversed(json.load(file)["programs"])}
        for kind in ("predict", "evaluate", "train"):
            process = self.expect(self.dtnn_run("bench", plan, "--program", kind, "--steps", "3", "--per-step",
                                                "--trace", "trace.json", "--format", "json"), 0)
            bench = json.loads(process.stdout)
            self.assertEqual(bench["program"], kind)
            self.assertEqual(bench["batch"], programs[kind]["batch"])
            self.assertEqual(bench["allocations_after_first_step"], 0)
            names = [step["op"] for step in bench["program_steps"]]
            self.assertEqual(any(name.endswith("_update") for name in names), kind == "train")
            with open(self.path("trace.json"), encoding="utf-8") as file:
                events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
            # A step to warm up and three more.
            self.assertGreaterEqual(len(events), 4 * len(names))
            self.assertTrue(any(event["name"].startswith("conv2d of") for event in events))
        self.expect(self.dtnn_run("bench", plan, "--trace", "missing/trace.json"), 1, "missing/trace.json")
        self.expect(self.dtnn_run("bench", plan, "--roofline", "missing/roofs.svg"), 1, "missing/roofs.svg")
        for drawing in ("--trace", "--roofline"):
            self.expect(self.dtnn_run("bench", plan, drawing, "-"), 2, drawing + " -", "name a file")
        self.expect(self.dtnn_run("bench", plan, "--program", "sleep"), 2, "predict")

    def test_memory_is_of_the_run_and_not_of_who_starts_it(self):
        plan = self.compile("--threads", "1")
        large = b"1" * (300 << 20)
        bench = json.loads(self.expect(self.dtnn_run("bench", plan, "--steps", "2", "--format", "json"), 0).stdout)
        self.assertGreater(bench["peak_rss_bytes"], bench["arena_bytes"]["allocated"])
        self.assertLess(bench["peak_rss_bytes"], len(large) // 2)

    def test_bench_beside_the_roofs(self):
        plan = self.compile("--threads", "2")
        process = self.expect(self.dtnn_run("bench", plan, "--steps", "3", "--roofline", "roofs.svg", "--format", "json"), 0)
        bench = json.loads(process.stdout)
        self.assertGreater(bench["roofs"]["gflops_per_second"], 1)
        self.assertGreater(bench["roofs"]["gigabytes_per_second"], 0.1)
        for one in bench["program_steps"] + bench["program_layers"]:
            self.assertIn(one["bound"], ("arithmetic", "memory"))
            self.assertGreaterEqual(one["roof_share"], 0)
        self.assertIn("conv2d_1", [layer["layer"] for layer in bench["program_layers"]])
        with open(self.path("roofs.svg"), encoding="utf-8") as file:
            picture = xml.etree.ElementTree.parse(file).getroot()
        points = [one for one in picture if one.tag.endswith("circle")]
        self.assertGreater(len(points), 10)
        self.assertTrue(picture.get("style").startswith("width: 100%"))
        # The five steps that take the most time are named below, by numbers that stand at their points.
        texts = [one.text for one in picture if one.tag.endswith("text")]
        named = [text.partition(": ")[0] for text in texts if "% of the" in text]
        times = {step["name"]: step["milliseconds"] for step in bench["program_steps"] if step["gflops_per_second"] > 0}
        self.assertEqual(named, sorted(times, key=times.get, reverse=True)[:5])
        # No text is wider than the picture.
        for one in picture:
            if one.tag.endswith("text"):
                left = {"start": 0, "middle": 0.5, "end": 1}[one.get("text-anchor")]
                self.assertGreaterEqual(float(one.get("x")) - left * 7 * len(one.text), 0, one.text)
                self.assertLessEqual(float(one.get("x")) + (1 - left) * 7 * len(one.text), float(picture.get("width")), one.text)
        numbers = [one.text for one in picture if one.get("font-weight") == "bold" and one.text.isdigit()]
        self.assertEqual(sorted(numbers), sorted("12345" * 2))

    def test_plans_that_do_not_match_are_five(self):
        plan = self.compile()
        with open(plan, "rb") as file:
            good = file.read()

        def refused(data, *texts):
            with open(self.path("bad.json"), "wb") as file:
                file.write(data)
            self.expect(self.dtnn_run("bad.json", "--output", "never"), 5, *texts)
            self.assertFalse(os.path.exists(self.path("never")))

        for position in range(0, len(good), max(1, len(good) // 40)):
            refused(good[:position] + bytes([good[position] ^ 1]) + good[position + 1:])
        for length in (0, 1, 100, len(good) // 2, len(good) - 1):
            refused(good[:length])
        refused(re.sub(rb'"version": \d+', b'"version": 99', good, count=1), "version")
        refused(b"\x00\xff" * 100)
        self.expect(self.dtnn_run("nothing.json"), 5, "nothing.json")

    def test_what_devices_compute_with(self):
        def compile_with(*settings, target="cuda"):
            words = [word for setting in settings for word in ("--set", setting)]
            return run(DTNNC, "compile", "tiny.yaml", "--target", target, "-o", "of.json", *words, cwd=self.folder)

        for settings, target, told in (
                (["training.compute=bf16"], "cpu", "the cpu computes in the dtype"),
                (["training.compute=bf16", "training.dtype=f64"], "cuda", "the dtype f64"),
                (["training.compute=bf16_products", "training.dtype=f64"], "cpu", "the dtype f64"),
                (["training.compute=bf16_products"], "cuda", "write `compute: bf16`"),
                (["training.loss_scale=1024"], "cuda", "`loss_scale` is of `compute: fp16`")):
            done = compile_with(*settings, target=target)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(told, done.stderr)
        done = compile_with()
        os.rename(self.path("of.json"), self.path("full.json"))
        for compute, words in (("tf32", "products in tf32"), ("bf16", "values in bf16"), ("fp16", "values in fp16")):
            done = compile_with(f"training.compute={compute}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, run(DTNNC, "summary", "of.json", cwd=self.folder).stdout)
            differs = run(DTNNC, "diff", "full.json", "of.json", cwd=self.folder)
            self.assertEqual(differs.returncode, 1, differs.stderr)
            self.assertIn("training.compute", differs.stdout)

    def test_a_plan_for_cuda_is_made_shown_and_refused(self):
        done = run(DTNNC, "compile", "tiny.yaml", "--target", "cuda", "-o", "cuda.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cuda", run(DTNNC, "summary", "cuda.json", cwd=self.folder).stdout)
        done = run(DTNNC, "forecast", "cuda.json", "--machine", "laptop", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no `gpus` with a memory_bandwidth and a rate of f32", done.stderr)
        rows = run(DTNNC, "forecast", "cuda.json", "--machine", "h100_nodes", "--format", "json", cwd=self.folder)
        self.assertEqual(rows.returncode, 0, rows.stderr)
        self.assertGreater(json.loads(rows.stdout)["rows"][0]["samples_per_second"], 0)
        run(DTNNC, "compile", "tiny.yaml", "-o", "cpu.json", cwd=self.folder)
        self.assertEqual(run(DTNNC, "diff", "cpu.json", "cuda.json", cwd=self.folder).returncode, 1)
        # A spec is compiled for the device of the plan that it is compared with.
        done = run(DTNNC, "diff", "tiny.yaml", "cuda.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(DTNN_RUN, "cuda.json", cwd=self.folder)
        self.assertEqual(done.returncode, 5)
        self.assertIn("`cuda`", done.stderr)
        self.assertIn("--target cpu", done.stderr)
        for words, told in ((("--target", "tpu"), "no such device"), (("--target", "cuda", "--isa", "avx2"), "--isa"),
                            (("--target", "cuda", "--reference-kernels"), "--reference-kernels"),
                            (("--target", "cuda", "--threads", "2"), "--threads"),
                            (("--target", "cuda", "--set", "parallel.wire=bf16"), "exchange gradients as they are")):
            done = run(DTNNC, "compile", "tiny.yaml", *words, "-o", "x.json", cwd=self.folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(told, done.stderr)

    def test_the_code_of_a_plan_is_shown_with_the_lines_it_comes_from(self):
        with open(self.path("net.yaml"), "w", encoding="utf-8") as file:
            file.write("kind: model\ninput: {shape: [1, 8, 8]}\nlayers:\n  - conv2d: {filters: 4, kernel: 3}\n"
                       "  - hard_swish\n  - flatten\n  - dense: {units: 10}\n  - softmax\n")
        self.expect(self.dtnnc("compile", "net.yaml", "--target", "cuda", "-o", "gpu.json"), 0)
        self.expect(self.dtnnc("codegen", "gpu.json"), 2, "gpu.json is for cuda, whose kernels interpret expressions: "
                    "code is generated for the cpu alone")
        self.expect(self.dtnnc("compile", "net.yaml", "-o", "net.json"), 0)
        shown = self.dtnnc("codegen", "net.json")
        if shown.returncode == 1:
            self.assertIn("libdtnn_codegen.so is not there", shown.stderr)
            self.assertIn("help: install LLVM", shown.stderr)
            self.skipTest("no LLVM here (Debian: llvm-19-dev)")
        self.expect(shown, 0, "define void @dtnn_loop", "x0 x0 3 add 0 max 6 min mul 6 div", "net.yaml:5")
        self.expect(self.dtnnc("codegen", "net.json", "--emit", "asm", "--step", "hard_swish_1.hard_swish"), 0, "mulps")
        self.expect(self.dtnnc("codegen", "net.json", "--step", "none"), 2, "has no step `none`")
        self.expect(self.dtnnc("codegen", "net.json", "--emit", "c"), 2, "c is none of llvm, asm")
        # The same numbers, whoever computes them.
        weights = []
        for which in ("on", "off"):
            run = self.dtnn_run("net.json", "--output", which, env={"DTNN_CODEGEN": which, "DTNN_CACHE_DIR": self.path("cache")})
            self.expect(run, 0)
            with open(self.path(f"{which}/weights.safetensors"), "rb") as file:
                weights.append(file.read())
        self.assertEqual(*weights)
        self.assertTrue(os.listdir(self.path("cache/codegen")))
        self.expect(self.dtnn_run("net.json", env={"DTNN_CODEGEN": "maybe"}), 2, "DTNN_CODEGEN is `maybe`: it is on or off")

    def test_the_compiler_alone_says_what_it_is_without(self):
        os.makedirs(self.path("alone"))
        program = shutil.copy(os.path.join(BIN, "dtnnc"), self.path("alone"))
        spec_path = os.path.join(ROOT, "specs")

        def alone(*words):
            return run(program, *words, "--spec-path", spec_path, cwd=self.folder)

        self.expect(alone("check", "digits_simplecnn"), 0)
        self.expect(alone("compile", "digits_simplecnn", "-o", "a.json"), 0)
        self.expect(alone("diff", "a.json", "digits_simplecnn"), 0)
        self.expect(alone("data", "digits_simplecnn"), 1, "libdtnn_runtime.so", "is in none of", "help: copy it")
        self.expect(alone("diff", "."), 2, "libdtnn_runtime.so", "help: copy it")
        # Fields that a spec leaves out are found in its files, whose readers are not here.
        with open(self.path("found.yaml"), "w", encoding="utf-8") as file:
            file.write("kind: dataset\ntype: csv\npath: a.csv\ntest_share: 0.2\n")
        self.expect(alone("check", "found.yaml"), 3, "libdtnn_runtime.so", "help: copy it")

    def test_missing_data_is_a_failed_run(self):
        job = os.path.join(ROOT, "specs", "jobs", "mnist_simplecnn.yaml")
        plan = self.compile("--set", "dataset.path=nowhere", spec=job)
        self.expect(self.dtnn_run(plan, "--output", "run"), 1, "nowhere")

    def test_not_a_number_is_six(self):
        plan = self.compile("--set", "training.optimizer.adam.learning_rate=1e38")
        self.expect(self.dtnn_run(plan, "--output", "run"), 6, "epoch")

    def test_interruption_saves_the_weights(self):
        plan = self.compile("--set", "training.epochs=100000")
        process = subprocess.Popen([DTNN_RUN, plan, "--output", "run"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + limit(60)
        while time.monotonic() < deadline:
            try:
                if any(e["event"] == "epoch" for e in self.history("run")):
                    break
            except (OSError, ValueError):
                pass
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 75, out + err)
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors"), 0)

    def test_output_folder_that_cannot_be_written(self):
        plan = self.compile()
        self.write("file", "")
        self.expect(self.dtnn_run(plan, "--output", "file/run"), 1, "file/run")
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.dtnn_run("bench", plan, "--steps", "2", "--format", "json", stdout=full)
        self.assertEqual(process.returncode, 1, process.stderr)

    def test_closed_and_full_streams(self):
        plan = self.compile()
        closed = run("sh", "-c", f"'{DTNN_RUN}' {plan} --output run --progress plain 2>&-", cwd=self.folder)
        self.assertEqual(closed.returncode, 0)
        # No file of the run took the number of the closed stream, and the messages with it.
        self.assertEqual([event["event"] for event in self.history("run")], ["start", "epoch", "epoch", "evaluate"])
        for place in (">&-", ">/dev/full"):
            process = run("sh", "-c", f"'{DTNN_RUN}' {plan} --output run --force --format json {place}",
                          cwd=self.folder)
            self.assertEqual(process.returncode, 1, process.stderr)
            self.assertIn("cannot write standard output", process.stderr)
            self.assertEqual(self.history("run")[-1]["event"], "evaluate")

    def test_an_answer_that_is_lost_shows_in_the_exit_code(self):
        plan = self.compile()
        for place, code in ((">/dev/full", 1), (">&-", 0), ("| true", 0)):
            process = run("bash", "-c", f"set -o pipefail; '{DTNN_RUN}' {plan} --output run --force {place}", cwd=self.folder)
            self.assertEqual(process.returncode, code, place + process.stderr)
            self.assertEqual(self.history("run")[-1]["event"], "evaluate")
            self.assertIn("test: loss", process.stderr + process.stdout if code == 1 else "test: loss")

    def test_bad_thread_count(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run", env={"OMP_NUM_THREADS": "many"}), 2, "OMP_NUM_THREADS")

    def test_wrong_weights_are_five(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        other = self.compile("--set", "model.layers.0.conv2d.filters=5", plan="other.json")
        self.expect(self.dtnn_run("evaluate", other, "--weights", "run/weights.safetensors"), 5, "conv2d_1.weights")
        self.write("junk.safetensors", "\xff" * 64)
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "junk.safetensors"), 5, "junk.safetensors")


class Installed(CommandTest):
    def test_an_installed_tree_works_from_anywhere(self):
        build = os.path.dirname(BIN)
        if not os.path.exists(os.path.join(build, "cmake_install.cmake")):
            self.skipTest("not run from a build tree")
        self.expect(run("cmake", "--install", build, "--prefix", self.path("tree")), 0)
        self.assertEqual(os.listdir(self.path("tree/share/doc")), ["dtnn"])  # what packages have besides is theirs
        # What tools/quickstart has not built is left out, and the rest installed.
        for folder, _, files in os.walk(build):
            for file in set(files) & {"cmake_install.cmake"}:
                with open(os.path.join(folder, file), encoding="utf-8") as script:
                    needed = re.findall(r'file\(INSTALL [^\n]* TYPE (?:EXECUTABLE|MODULE|SHARED_LIBRARY) FILES "([^"]*)"', script.read())
                self.assertLessEqual({os.path.basename(path) for path in needed}, {"dtnnc", "dtnn-run", "libdtnn_runtime.so"})
        os.rename(self.path("tree"), self.path("moved"))
        dtnnc, dtnn_run = self.path("moved/bin/dtnnc"), self.path("moved/bin/dtnn-run")
        self.write("job.yaml", "kind: job\nmodel: simplecnn\ndataset: {extends: digits, train_samples: 200, "
                               "test_samples: 64}\ntraining: adam\n")
        self.expect(run(dtnnc, "compile", "job.yaml", "-o", "plan.json", cwd=self.folder), 0)
        self.expect(run(dtnn_run, "plan.json", "--output", "run", cwd=self.folder), 0)
        # Schemas find their definitions beside them.
        self.assertEqual(sorted(os.listdir(self.path("moved/share/dtnn/specs/schema"))),
                         sorted(os.listdir(os.path.join(ROOT, "specs", "schema"))))
        # Man and the shells look in these folders.
        for file in ("man/man1/dtnnc.1", "man/man1/dtnnc-compile.1", "man/man1/dtnn-run-train.1",
                     "bash-completion/completions/dtnnc", "bash-completion/completions/dtnn-run",
                     "zsh/site-functions/_dtnnc", "zsh/site-functions/_dtnn_run",
                     "fish/vendor_completions.d/dtnnc.fish", "fish/vendor_completions.d/dtnn-run.fish"):
            self.assertGreater(os.path.getsize(self.path("moved/share/" + file)), 500, file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
