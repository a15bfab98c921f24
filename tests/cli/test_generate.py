#!/usr/bin/env python3
"""`dtnn-run generate`: text token by token is what the whole network says of the whole text, whatever goes on beside it;
prompts, what ends texts, what tokens are in text."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz
from commands import DTNN_RUN, CommandTest, limit

STEPS = 64
WORDS = (". the a some that old young small grey cat dog bird child judge baker cats dogs birds children judges bakers sees hears "
         "follows greets see hear follow greet sleeps laughs waits runs sleep laugh wait run today often here").split()
# Attention keeps keys and values of all steps, an LSTM what it knows of them.
GPT = """kind: job
name: words
model: gpt_grammar
dataset: {extends: grammar, train_samples: 640, test_samples: 64}
training: {epochs: 2, batch_size: 32, optimizer: {adamw: {learning_rate: 0.003}}}
generation: {prompts: 3}
"""
LSTM = GPT.replace("gpt_grammar", "lstm_grammar")
# One step of every layer that looks back only, over 40 words.
NETWORKS = {
    "gpt": "gpt_grammar",
    "lstm": "lstm_grammar",
    "tcn": "tcn_grammar",
    "gpt2": "{extends: gpt2, parameters: {layers: 2, heads: 2, width: 16, steps: 64, positions: 70, classes: 40}}",
    "llama": "{extends: llama_tiny, parameters: {layers: 2, heads: 4, key_value_heads: 2, width: 32, hidden: 48, steps: 64, classes: 40}}",
    "cells": """
  inputs: {tokens: {shape: [64], axes: [step], dtype: i32, values: 40}}
  operators: [mish]
  layers:
    - embedding: {entries: 40, units: 12}
    - position_embedding: {form: sinusoidal}
    - concat: [[rnn: {units: 8}], [gru: {units: 8}, mish], [lstm: {units: 9}]]
    - batch_norm
    - dense: {name: values, units: 16}
    - dense: {name: keys, units: 16, from: batch_norm_1}
    - dense: {name: queries, units: 32, from: batch_norm_1}
    - attention: {from: [queries, keys, values], heads: 4, key_value_heads: 2, causal: true, dropout: 0.2, scale: 0.7}
    - slice: {axis: features, begin: 4, end: 30}
    - log_softmax: {axis: features}
    - gru: {units: 16}
    - conv1d: {filters: 12, kernel: 4, dilation: 3, groups: 2, padding: causal}
    - batch_norm
    - relu
    - depthwise_conv1d: {kernel: 2, multiplier: 2, padding: [1, 0]}
    - conv1d: {filters: 16, kernel: 1}
    - dense: {units: 40}
    - softmax: {axis: features}""",
}
# Without attention, so that a text may be of any length.
TOKENS = """kind: job
name: tokens
model:
  inputs: {{tokens: {{shape: [8], axes: [step], dtype: i32, values: {classes}}}}}
  layers: [embedding: {{entries: {classes}, units: 8}}, lstm: {{units: 8}}, dense: {{units: {classes}}}, softmax: {{axis: features}}]
dataset: {{{dataset}, steps: 8, test_share: 0.25}}
training: {{epochs: 1, batch_size: 8, optimizer: sgd}}
generation: {{}}
"""
PROMPTS = ["the old cats", ".", "some dogs that", "a young judge sees the", "the birds"]


class Generate(CommandTest):
    def train(self, spec=GPT, name="words"):
        self.compile(spec=self.write(f"{name}.yaml", spec), plan=f"{name}.json")
        self.expect(self.dtnn_run(f"{name}.json", "--output", name, "--progress", "none"), 0)
        return name

    def generate(self, run, *words, code=0, **options):
        return self.expect(self.dtnn_run("generate", run, *words, **options), code)

    def objects(self, run, *words, **options):
        return [json.loads(line) for line in self.generate(run, *words, "--format", "json", **options).stdout.splitlines()]

    def texts(self, run, prompts, *words):
        """Of each prompt what follows it."""
        given = [word for prompt in prompts for word in ("--prompt", prompt)]
        told = self.objects(run, *given, *words)
        self.assertEqual([one["prompt"] for one in told], list(prompts))
        return [one["text"] for one in told]

    def greedy(self, run, prompt, length, *words):
        text, = self.texts(run, [prompt], "--length", str(length), "--temperature", "0", *words)
        return text

    def predictions(self, run, words):
        """What the whole network says, at each step, of the next word."""
        numbers = [WORDS.index(word) for word in words]
        with open(self.path("x.npy"), "wb") as file:
            file.write(npy_bytes(Array("<i4", (1, STEPS), (numbers + [0] * STEPS)[:STEPS])))
        self.expect(self.dtnn_run("predict", run, "--input", "x.npy", "-o", "p.npz"), 0)
        said = read_npz(self.path("p.npz"))["probabilities"]
        self.assertEqual(said.shape, (1, STEPS, len(WORDS)))
        return [said.data[i * len(WORDS):(i + 1) * len(WORDS)] for i in range(STEPS)]

    def test_what_is_kept_is_what_the_whole_network_knows(self):
        for name, model in NETWORKS.items():
            run = self.train(GPT.replace("gpt_grammar", model), name)
            # All of a batch go on at once, one of them from its first word.
            prompts = [".", "the old cats that see a dog", "some"]
            texts = self.texts(run, prompts, "--length", str(STEPS), "--temperature", "0")
            # A long prompt alone is read many words at a time.
            prompts.append(" ".join((prompts[1] + texts[1]).split()[:50]))
            texts += self.texts(run, prompts[3:], "--length", str(STEPS), "--temperature", "0")
            for prompt, text in zip(prompts, texts):
                whole = (prompt + text).split()[:STEPS]
                self.assertEqual(len(whole), STEPS)
                rows = self.predictions(run, whole)
                # The likeliest word, but for rounding.
                for i in range(len(prompt.split()) - 1, STEPS - 1):
                    self.assertGreaterEqual(rows[i][WORDS.index(whole[i + 1])], max(rows[i]) - 1e-5, (name, prompt, i))

    def test_what_it_takes_is_known_before(self):
        # 64 steps of 64 numbers of keys and as many of values, of two layers and three texts, in f32.
        kept = 64 * 64 * 2 * 2 * 3 * 4
        spec = self.write("words.yaml", GPT)
        self.expect(self.dtnnc("summary", spec), 0, f"generation  3 texts at once, of which {kept / 1024:.1f} KiB are kept; ")
        memory = [json.loads(self.dtnnc("summary", one, "--format", "json").stdout)["memory"]["inputs"]
                  for one in (spec, self.write("none.yaml", GPT.replace("generation: {prompts: 3}\n", "")))]
        self.assertGreaterEqual(memory[0] - memory[1], kept)
        self.assertLess(memory[0] - memory[1], kept + 2048)

    def test_networks_that_look_ahead(self):
        for layer, fact, remedy in (
                ("dense: {units: 24}\n    - attention: {heads: 2}", "attends to those behind it", "`causal: true`"),
                ("lstm: {units: 8, reversed: true}", "from the last step to the first", "without `reversed`"),
                ("group_norm: {groups: 2}", "takes all steps of a text at once", "look back"),
                ("conv1d: {filters: 8, kernel: 3, padding: same}", "do not end at the step", "`padding: causal`"),
                ("max_pool1d: {kernel: 2, stride: 1, padding: same}", "takes all steps of a text at once", "look back"),
                ("softmax: {axis: steps}", "takes all steps of a text at once", "look back")):
            spec = self.write("ahead.yaml", f"""kind: job
training: {{epochs: 1}}
dataset: {{type: grammar, steps: 16}}
generation: {{}}
model:
  inputs: {{tokens: {{shape: [16], axes: [step], dtype: i32, values: 40}}}}
  layers:
    - embedding: {{entries: 40, units: 8}}
    - {layer}
    - dense: {{units: 40}}
    - softmax: {{axis: features}}
""")
            line = 10 + layer.count("\n")
            for words in (("check", spec), ("compile", spec, "-o", "ahead.json")):
                self.expect(self.dtnnc(*words), 3, f"ahead.yaml:{line - 1}:7: error: `generation` asks for text step by step", fact, remedy, "needs-all-steps")

    def test_words_are_drawn_by_the_networks_probabilities(self):
        run = self.train()
        prompt = "the old"
        words = self.texts(run, [prompt] * 300, "--length", "1")
        row = self.predictions(run, prompt.split())[1]
        # Each word as often as it is probable, within five standard deviations.
        for word, probability in zip(WORDS, row):
            found = words.count(" " + word)
            self.assertLess(abs(found - 300 * probability), 5 * (300 * probability * (1 - probability)) ** 0.5 + 1, word)
        few = set(self.texts(run, [prompt] * 50, "--length", "1", "--top-k", "3"))
        likeliest = [" " + WORDS[i] for i in sorted(range(len(WORDS)), key=lambda i: -row[i])[:3]]
        self.assertLessEqual(few, set(likeliest))
        self.assertEqual(set(self.texts(run, [prompt] * 5, "--length", "1", "--top-p", "0.0001")), {likeliest[0]})

    def test_the_same_command_says_the_same(self):
        run = self.train()
        for more in (("--temperature", "0"), (), ("--temperature", "2", "--seed", "7"), ("--top-k", "5", "--top-p", "0.9")):
            words = ("--prompt", "the cat", "--length", "30", *more)
            self.assertEqual(self.generate(run, *words).stdout, self.generate(run, *words).stdout)
        # Prompts of other places, and other seeds, draw otherwise.
        texts = self.texts(run, ["the cat"] * 4, "--length", "30")
        self.assertEqual(len(set(texts)), 4)
        self.assertNotEqual(self.texts(run, ["the cat"], "--length", "30", "--seed", "1"), texts[:1])
        # Threads change no more than rounding does.
        self.assertEqual(len(self.objects(run, "--prompt", "the cat", env={"OMP_NUM_THREADS": "1"})), 1)

    def test_texts_do_not_depend_on_those_beside_them(self):
        run = self.train()
        alone = self.write("alone.yaml", GPT.replace("prompts: 3", "prompts: 1"))
        self.compile(spec=alone, plan="alone.json")
        for more in (("--temperature", "0"), ("--seed", "3")):
            # Three at a time, two in the last batch; one at a time; fewer than a batch.
            together = self.texts(run, PROMPTS, "--length", "90", *more)
            single = self.texts("alone.json", PROMPTS, "--weights", "words/weights.safetensors", "--length", "90", *more)
            self.assertEqual(together, single)
            self.assertEqual(self.texts(run, PROMPTS[:1], "--length", "90", *more), together[:1])

    def test_texts_longer_than_the_context(self):
        run = self.train()
        words = ("the old cats" + self.greedy(run, "the old cats", 150)).split()
        self.assertEqual(len(words), 153)
        # 64 were read, the 65th was said; of these the last 32 begin again.
        end = STEPS + 1
        again = self.greedy(run, " ".join(words[end - STEPS // 2:end]), STEPS // 2)
        self.assertEqual(again.split(), words[end:end + STEPS // 2])
        # A prompt that is longer is read the same way.
        self.assertEqual(self.greedy(run, " ".join(words[:end]), STEPS // 2).split(), words[end:end + STEPS // 2])
        self.assertEqual(len(self.greedy(run, " ".join(words), 5).split()), 5)
        # What an LSTM knows has no end.
        run = self.train(LSTM, "lstm")
        words = ("the old cats" + self.greedy(run, "the old cats", 150)).split()
        self.assertEqual(self.greedy(run, " ".join(words[:100]), 53).split(), words[100:])

    def test_texts_that_end_texts(self):
        run = self.train()
        whole = self.greedy(run, "the old cats", 40)
        words = ("--prompt", "the old cats", "--length", "40", "--temperature", "0")
        # A token, the end of one and the beginning of the next, the beginning of one; it may come earlier, too.
        fifth, sixth = whole.split()[4:6]
        for stop in (" " + sixth, f"{fifth[-1]} {sixth[0]}", " " + sixth[0], whole[:2]):
            text, = self.objects(run, *words, "--stop", stop, "--stop", "xyz")
            at = whole.index(stop)
            self.assertEqual((text["text"], text["end"]), (whole[:at], "stop"), stop)
            self.assertEqual(text["tokens"], len(whole[:at + len(stop)].split()))
            self.assertEqual(self.generate(run, *words, "--stop", stop).stdout, "the old cats" + whole[:at] + "\n")
        # What is not there ends nothing, and neither does the prompt.
        for stops in (("xyz",), ("the old cats", "xyz")):
            text, = self.objects(run, *words, *[word for stop in stops for word in ("--stop", stop)])
            at = whole.find("the old cats") if "the old cats" in stops else -1
            self.assertEqual((text["text"], text["end"]), (whole[:at], "stop") if at >= 0 else (whole, "length"))

    def test_prompts_of_the_command_line_and_of_standard_input(self):
        run = self.train()
        greedy = [self.greedy(run, prompt, 10) for prompt in PROMPTS]
        words = ("--length", "10", "--temperature", "0")
        one = self.generate(run, "--prompt", PROMPTS[0], *words)
        self.assertEqual((one.stdout, one.stderr), (PROMPTS[0] + greedy[0] + "\n", ""))
        given = [word for prompt in PROMPTS for word in ("--prompt", prompt)]
        printed = "\n".join(prompt + text + "\n" for prompt, text in zip(PROMPTS, greedy))
        self.assertEqual(self.generate(run, *given, *words).stdout, printed)
        lines = "\n".join(PROMPTS)
        self.assertEqual(self.generate(run, *words, input=lines).stdout, printed)
        self.assertEqual(self.generate(run, *words, input="\n" + lines.replace("\n", "\r\n\n") + "\n").stdout, printed)
        told = self.objects(run, *words, input=lines)
        self.assertEqual([(one["prompt"], one["text"], one["tokens"], one["end"]) for one in told],
                         [(prompt, text, 10, "length") for prompt, text in zip(PROMPTS, greedy)])
        # What is drawn depends on the place among the prompts, wherever they come from.
        self.assertEqual(self.generate(run, "--length", "10", input=lines).stdout, self.generate(run, *given, "--length", "10").stdout)
        for empty in ("", "\n\n"):
            self.expect(self.dtnn_run("generate", run, input=empty), 2, "standard input has no prompt", "--prompt TEXT")

    def test_each_line_is_answered_before_the_next_is_read(self):
        run = self.train()
        process = subprocess.Popen([DTNN_RUN, "generate", run, "--length", "5", "--format", "json"], cwd=self.folder, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for prompt in PROMPTS:
            process.stdin.write(prompt + "\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["prompt"], prompt)
        rest = process.communicate(timeout=limit(60))
        self.assertEqual((process.returncode, *rest), (0, "", ""))

    def test_a_signal_ends_it_behind_a_token(self):
        run = self.train(LSTM)
        # Unbuffered, so that nothing of what was read ahead is lost to `communicate`.
        process = subprocess.Popen([DTNN_RUN, "generate", run, "--prompt", "the cat", "--length", "1000000000"], cwd=self.folder,
                                   bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        begun = b""
        while len(begun) < 40:
            begun += process.stdout.read(40 - len(begun))
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=limit(60))
        begun, printed, told = begun.decode(), printed.decode(), told.decode()
        self.assertEqual((process.returncode, told), (75, ""))
        self.assertTrue(begun.startswith("the cat "), begun)
        self.assertTrue(printed.endswith("\n"))
        self.assertLessEqual(set((begun + printed).split()), set(WORDS))
        # While it waits for a line, too.
        process = subprocess.Popen([DTNN_RUN, "generate", run, "--length", "3"], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write("the cat\n")
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=limit(60)), 75)
        process.communicate()

    def test_text_of_bytes_and_of_characters(self):
        with open(self.path("book.txt"), "wb") as file:
            file.write("Le café est là, où l'été dort.\n".encode() * 60)
        for unit in ("byte", "character"):
            classes = 256 if unit == "byte" else len(set("Le café est là, où l'été dort.\n"))
            run = self.train(TOKENS.format(classes=classes, dataset=f"type: text, path: book.txt, unit: {unit}"), unit)
            os.rename(self.path("book.txt"), self.path("away.txt"))
            told, = self.objects(run, "--prompt", "là", "--length", "40")
            self.assertEqual((told["tokens"], told["end"]), (40, "length"))
            if unit == "character":
                self.assertEqual(len(told["text"]), 40)
                self.assertLessEqual(set(told["text"]), set("Le café est là, où l'été dort.\n"))
                self.expect(self.dtnn_run("generate", run, "--prompt", "la banane"), 2, "the prompt: character 4: the network does not "
                            "know `b` (U+0062)", "unit: byte")
                self.expect(self.dtnn_run("generate", run, "--prompt", "là", "--prompt", "%"), 2, "prompt 2: character 1")
            else:
                # Bytes of a network that has hardly learnt are rarely characters; what is printed is UTF-8 all the same.
                self.assertIn("\ufffd", told["text"])
                self.assertTrue(self.generate(run, "--prompt", "là", "--length", "40").stdout.startswith("là"))
            self.expect(self.dtnn_run("generate", run, "--prompt", ""), 2, "the prompt is empty", "--prompt TEXT")
            self.expect(self.dtnn_run("generate", run, "--prompt", "l", "--vocabulary", "v.json"), 2, "--vocabulary is for tokens",
                        unit + "s")
            os.rename(self.path("away.txt"), self.path("book.txt"))

    def test_tokens_as_numbers_and_by_a_vocabulary(self):
        with open(self.path("tokens.bin"), "wb") as file:
            file.write(b"".join((i * i % 258).to_bytes(2, "little") for i in range(2000)))
        run = self.train(TOKENS.format(classes=260, dataset="type: tokens, path: tokens.bin, item: u16, classes: 260"), "tokens")
        told, = self.objects(run, "--prompt", "7  259", "--length", "6", "--temperature", "0")
        self.assertRegex(told["text"], r"^( \d+){6}$")
        self.assertEqual(self.generate(run, "--prompt", "7 259", "--length", "6", "--temperature", "0").stdout,
                         "7 259" + told["text"] + "\n")
        self.expect(self.dtnn_run("generate", run, "--prompt", "7 260"), 2, "number 2: `260` is no token; the network's are 0 to 259",
                    "--vocabulary FILE")
        tokens = [bytes([b]) for b in range(256)] + [b"th", b"the"]
        for name, more in (("ranks", []), ("many", [b" a", b" b", b" c"])):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("".join(f"{base64.b64encode(t).decode()} {i}\n" for i, t in enumerate(tokens + more)))
        known = ("--vocabulary", "ranks", "--pattern", "gpt2")
        done = self.dtnn_run("generate", run, "--prompt", "the", "--length", "6", "--temperature", "0", "--format", "json", *known)
        if "without PCRE2" in done.stderr:
            self.skipTest("built without PCRE2")
        told = json.loads(self.expect(done, 0).stdout)
        numbers, = self.objects(run, "--prompt", "257", "--length", "6", "--temperature", "0")
        made = b"".join(tokens[number] if number < len(tokens) else "\ufffd".encode() for number in map(int, numbers["text"].split()))
        self.assertEqual((told["prompt"], told["text"]), ("the", made.decode(errors="replace")))
        self.expect(self.dtnn_run("generate", run, "--prompt", "the", "--vocabulary", "many", "--pattern", "gpt2"), 5,
                    "many: it has 261 tokens, and the network 260")
        self.expect(self.dtnn_run("generate", run, "--prompt", "the", "--pattern", "gpt2"), 2, "--pattern", "--vocabulary")
        self.expect(self.dtnn_run("generate", run, "--prompt", "the", "--vocabulary", "none"), 2, "none")

    def test_plans_that_do_not_generate_and_weights_of_them(self):
        self.compile(spec=self.write("plain.yaml", GPT.replace("generation: {prompts: 3}\n", "")), plan="plain.json")
        self.expect(self.dtnn_run("plain.json", "--output", "plain", "--progress", "none"), 0)
        done = self.expect(self.dtnn_run("generate", "plain", "--prompt", "the"), 5, "the plan has no program that generates",
                           "write `generation: {}` in the job")
        self.assertEqual(done.stdout, "")
        # The weights serve the plan that does.
        self.compile(spec=self.write("words.yaml", GPT), plan="words.json")
        self.objects("words.json", "--weights", "plain/weights.safetensors", "--prompt", "the")
        self.expect(self.dtnn_run("generate", "words.json", "--prompt", "the"), 2, "--weights FILE")
        self.expect(self.dtnn_run("generate", "words.json", "--weights", "none.npz", "--prompt", "the"), 5, "none.npz")

    def test_mistakes_of_the_command_line(self):
        run = self.train()
        for words, said in ((("--temperature", "-1"), "--temperature: -1 is not a number from 0 to 1000"),
                            (("--top-k", "0"), "--top-k: 0 is not an integer of at least 1"),
                            (("--top-p", "0"), "--top-p: 0 is not a number from 0.0001 to 1"),
                            (("--top-p", "1.5"), "--top-p: 1.5 is not"), (("--length", "0"), "--length: 0 is not"),
                            (("--seed", "-1"), "--seed: -1 is not"), (("--stop", ""), "--stop is an empty text"),
                            (("--pattern", "gpt2"), "--vocabulary")):
            done = self.expect(self.dtnn_run("generate", run, "--prompt", "the", *words), 2, said)
            self.assertEqual(done.stdout, "")
        self.expect(self.dtnn_run("generate", run, "--prompt", "the kat"), 2, "the prompt: word 2: the network does not know `kat`",
                    "it knows . the a some")
        self.expect(self.dtnn_run("generate", run, "--prompt", "the", "--prompt", " "), 2, "prompt 2 is empty")
        self.expect(self.dtnn_run("generate", run, input="the\n\nthe kat\n"), 2, "line 3: word 2")
        with open(self.path("words.json"), encoding="utf-8") as file:
            plan = file.read()
        self.expect(self.dtnn_run("generate", "-", "--weights", "words/weights.safetensors", input=plan), 2, "--prompt TEXT")
        told = self.generate("-", "--weights", "words/weights.safetensors", "--prompt", "the", "--length", "3", input=plan)
        self.assertTrue(re.fullmatch(r"the( \S+){3}\n", told.stdout), told.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
