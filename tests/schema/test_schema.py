#!/usr/bin/env python3
"""The JSON Schemas against shipped specs, broken specs, and the tables they are made from. See README.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import jsonschema
    import yaml
    import spec_yaml
except ImportError as missing:
    print(f"skipped: {missing}; install python3-jsonschema and python3-yaml", file=sys.stderr)
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTNNC = os.path.join(os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin")), "dtnnc")
SCHEMAS = os.path.join(ROOT, "specs", "schema")
CORPUS = os.path.join(ROOT, "tests", "golden", "diagnostics")
DEFINITIONS = "definitions.schema.json"
KINDS = ("job", "model", "dataset", "training", "machine", "operator", "loss")

# Mistakes that one file's schema cannot see, by diagnostic code.
NOT_STRUCTURAL = {
    # Other files, and the command line.
    "cannot-read": "the file is not there",
    "unknown-reference": "what a name refers to is in another file",
    "wrong-kind": "the kind of another file",
    "extends-cycle": "what other files extend",
    "bad-setting": "settings are on the command line",
    # The text of the file; a validator gets values.
    "yaml-syntax": "YAML's grammar",
    "tab-indentation": "YAML's grammar",
    "several-documents": "YAML's grammar",
    "bad-encoding": "bytes",
    "duplicate-key": "gone when values are made",
    "unknown-tag": "gone when values are made",
    "merge-key": "gone when values are made",
    "too-many-aliases": "gone when values are made",
    "too-deep": "how far a document may nest is a limit of the reader",
    "too-large": "the size of the text",
    "bad-key": "keys of JSON are texts",
    # Expressions have a grammar and values of their own.
    "expression-syntax": "the grammar within ${...}",
    "elementwise-syntax": "the grammar of elementwise expressions",
    "expression-type": "values of expressions",
    "unknown-name": "names within ${...}",
    "unused-parameter": "names within ${...}",
    "division-by-zero": "values of expressions",
    "number-overflow": "values of expressions",
    "bad-repeat": "what `times` depends on",
    "too-many-layers": "what expressions expand to",
    # Relations between places that a schema, which sees one value at a time, cannot state.
    "matrix-too-large": "the classes that the dataset and the model have",
    "unknown-layer": "names of other layers",
    "later-layer": "the order of layers",
    "duplicate-layer": "names of other layers",
    "unused-layer": "what other layers read",
    "block-cycle": "what other blocks use",
    "shape-error": "shapes",
    "shape-mismatch": "shapes",
    "classes-mismatch": "model and dataset",
    "not-probabilities": "the last layer and the loss",
    "labels-mismatch": "the dataset's labels, and the loss and metrics",
    "too-few-samples": "products of several fields",
    "conflicting-fields": "which fields stand together",
    "unknown-metric": "the list of metrics, and the dataset",
    "unmatched-pattern": "the names of the model's parameters",
    "nothing-trains": "the names of the model's parameters",
    "over-budget": "the plan",
    "over-machine-memory": "the plan",
    "ranks-mismatch": "products of several fields, and the command line",
    "machine-mismatch": "products of several fields, and the command line",
}
# Cases with codes that are structural elsewhere, by title, and why a schema accepts them.
EXCEPTIONS = {
    "a name with a comma": "to YAML it is two names",
    "a minimum above the learning rate": "it compares two numbers",
    "names that are too long": "the names of the blocks and repeats around count as well",
    "a model of nothing": "all of its layers are left out by values",
    "more samples than mnist has": "the limit is the data's own",
    "samples that are too large": "the limit is on a product",
    "class weights that are all nothing": "the limit is on all of them together",
    "a group with a field of another optimizer": "the optimizer is another field",
    "a transform with too many channels": "the samples' shape",
    "steps that do not rise": "numbers of one list are compared",
    "columns that are left out twice": "numbers of one list are compared",
    "a category twice": "names of one list are compared",
    "fewer means than targets": "the lengths of two lists are compared",
    "fewer means than features": "the lengths of two lists are compared",
    "scaled features whose files are not there": "the files may say it",
    "numbers that the horizon does not give": "two fields are compared",
    "a column that is forecast twice": "texts of one list are compared",
    "a feature by two names": "texts of one list are compared",
    "a column of groups that is none": "a range with a hole",
    "a series with nothing to train on": "two fields are added up",
    "lengths by no name": "texts have no patterns",
    "scaled targets whose files are not there": "the files may say it",
    "categories whose files are not there": "the files may say it",
    "a multistep without steps": "a list that may be empty elsewhere",
    "an epoch of more steps than there are": "the data's number of samples",
    "images of several sizes that stay so": "what transforms make of a shape",
    "images with one extent of zero": "two extents are zero together",
    "images of two channels": "one or three, of a list's first number only",
    "arrays of no channels": "a list's first number only",
    "more ranks with data than there are": "the number of ranks",
    "ranks with less than a batch": "two fields are compared",
    "one class": "a field of several types, with another least value in one of them",
    "more samples than cifar10 has": "the limit is the data's own",
    "an empty path of images": "texts of all kinds are read, numbers too",
    "label columns that are none": "numbers of one list are compared",
    "two label columns for one class": "two fields are compared",
    "fewer label columns than values": "two fields are compared",
    "a folder without its counts": "what is left out may be in the files",
    "one column by two names": "texts of one list are compared",
    "more names than values": "two fields are compared",
    "names of other classes than there are, and a name twice": "two fields are compared",
    "a class by the name of another": "texts of one list are compared",
    "masks of numbers that come twice": "numbers of one list are compared",
    "masks of other numbers than classes": "two fields are compared",
    "a content hash that is none": "texts have no patterns",
    "a crop that is larger than the samples": "the samples' shape",
    "a centre crop that is larger than the samples": "the samples' shape",
    "a random crop that is larger than the padded samples": "the samples' shape",
    "samples that cannot become gray": "the samples' shape",
    "saturation of gray samples": "the samples' shape",
    "constants of colours for gray samples": "the samples' shape",
    "a normalization of three channels before they are one": "the samples' shape",
    "an expression of specs": "the grammar within ${...}",
    "a loss with a field of another name": "the parameters of what the training names",
    "a loss out of its range": "the parameters of what the training names",
    "a loss without what it must be given": "the parameters of what the training names",
    "a loss that is an operator for layers": "what the training names",
    "a loss among the layers": "names of operators",
    "a parameter that is not read": "the grammar of formulas",
    "a parameter that is not given": "what the model declares",
    "a parameter that is not known": "what the model declares",
    "a parameter with a value of another type": "what the model declares",
    "a parameter out of its range": "what the model declares",
    "a name that is a block's too": "the names of the model's blocks",
    "an operator that is misspelt where it is used": "the names of the model's operators",
    "an operator that joins": "what the model declares",
    "a trained parameter that is an integer": "two fields are compared",
    "a trained parameter without a value": "what the model declares",
    "a trained parameter whose value is out of its range": "what the model declares",
    "a written metric with a name of several words": "texts have no patterns",
    "a written metric that is called as another": "texts have no patterns",
    "a written metric that is called as the loss": "texts have no patterns",
    "a written schedule that falls below 0": "values of formulas",
    "a written schedule that is infinite at first": "values of formulas",
    "a rate of nothing": "patterns have no ranges",
    "a rate that is too large": "patterns have no ranges",
    "a bucket of nothing": "patterns have no ranges",
    "a bucket that is too large": "patterns have no ranges",
    "a range that is no range": "numbers of one list are compared",
    "images of the sizes that they have": "what transforms make of a shape",
    "a path from home": "texts have no patterns",
    "a path by a variable": "texts have no patterns",
    "a table from home": "texts have no patterns",
    "channels that come last": "one or three, of a list's first number only",
}


def cases():
    """Of each case its file, title, spec, all of its source, and the structural codes of what is said about it."""
    for name in sorted(os.listdir(CORPUS)):
        if not name.endswith((".txt", ".brief", ".whole")):
            continue
        with open(os.path.join(CORPUS, name), encoding="utf-8", errors="replace", newline="\n") as file:
            parts = re.split(r"(?m)^(==|===) ", file.read())[1:]
        for mark, part in zip(parts[::2], parts[1::2]):
            title, rest = part.split("\n", 1)
            source, answers = rest.split("-----\n", 1)
            if mark == "==":
                spec = re.split(r"(?m)^-- file .*\n", source)[0]
                yield name, title, spec, source, structural_codes(answers, spec.split("\n"))
                continue
            for line in filter(None, answers.split("\n")):
                given, *answers = line.split(" => ")
                title, _, given = given.rpartition(" :: ")
                given = re.sub(r"  \(meant \S+\)$", "", given)
                spec = source.replace("@", given.replace("\\n", "\n"), 1)
                written_loss = re.match("(training: {)?loss:", given)
                codes = (brief_codes(answers) if name.endswith(".brief") else
                         structural_codes("\n".join(answers), spec.split("\n")))
                yield name, title or given, spec, spec, codes - ({"unknown-choice"} if written_loss else set())


def structural_codes(answers, lines):
    """The codes of a case that a schema should see: not those whose place is an expression, as they are about its value."""
    codes = set()
    for line, column, text, code in re.findall(r"(?m)^(?:spec\.yaml:)?(\d+):(\d+): error: (.*?) \[([a-z0-9-]+)\](?: \^|$)", answers):
        # A loss may be a spec of its own.
        if text.startswith("`loss` of training is") and code == "unknown-choice":
            continue
        source = lines[int(line) - 1] if int(line) <= len(lines) else ""
        if code not in NOT_STRUCTURAL and not re.match(r"""["']?\$\{""", source[int(column) - 1:]):
            codes.add(code)
    return codes


def brief_codes(answers):
    """As structural_codes, of the answers `marked [code] help`."""
    codes = set()
    for answer in answers:
        marked, code = re.match(r"(.*?) ?(?<!warning )\[([a-z]+-[a-z-]+)\] |()()", answer).groups()[:2]
        if code and code not in NOT_STRUCTURAL and not re.match(r"""["']?\$\{""", marked):
            codes.add(code)
    return codes


def remedies():
    """Each piece of a spec that the help of a diagnostic prints, as it is printed, with its file."""
    for name in sorted(os.listdir(CORPUS)):
        if os.path.isdir(os.path.join(CORPUS, name)):
            continue
        with open(os.path.join(CORPUS, name), encoding="utf-8", errors="replace") as file:
            for words in re.findall(r"(?m)\| help: (.*?)(?= => \d+:|$)", file.read()):
                for piece in re.findall("`([^`]+)`", words):
                    # A field with its value, a map, or an entry of a list.
                    if re.match(r"[\w.]+: ?\S|[\[{].|- \S", piece):
                        yield name, piece


def places_in(schema):
    """What a schema asks of each field by its name, of entries of lists, and of fields with names of the user's."""
    named, entries, others, seen, ahead = {}, [], [], set(), [schema]
    while ahead:
        node = ahead.pop()
        if id(node) in seen or not isinstance(node, (dict, list)):
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            for key, value in (node.get("properties") or {}).items():
                named.setdefault(key, []).append(value)
            for key, found in (("items", entries), ("additionalProperties", others)):
                found += [node[key]] if isinstance(node.get(key), dict) else []
        ahead += list(node.values() if isinstance(node, dict) else node)
    return named, entries, others


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def without_references(path):
    """The schema as an editor's YAML language server sees it: the name of a file in a reference is relative to the file
    that the reference stands in, and what it leads to there takes the reference's place."""
    files = {path: read_json(path)}
    ahead, seen = [(files[path], path)], set()
    while ahead:
        node, place = ahead.pop()
        if id(node) in seen or not isinstance(node, (dict, list)):
            continue
        seen.add(id(node))
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            name, _, pointer = node.pop("$ref").partition("#/")
            if name:
                place = os.path.join(os.path.dirname(place), name)
            if place not in files:
                files[place] = read_json(place)
            target = files[place]
            for part in pointer.split("/"):
                target = target[part]
            for key, value in target.items():
                node.setdefault(key, value)
        ahead += [(part, place) for part in (node.values() if isinstance(node, dict) else node)]
    return files[path]


def validator_of(path):
    return jsonschema.Draft7Validator(without_references(path))


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {}
        for kind in ("dtnn",) + KINDS:
            cls.schemas[kind] = read_json(os.path.join(SCHEMAS, f"{kind}.schema.json"))
        cls.validators = {kind: validator_of(os.path.join(SCHEMAS, f"{kind}.schema.json")) for kind in cls.schemas}

    def test_the_committed_schemas_are_current(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([DTNNC, "schema", "-o", folder], check=True)
            self.assertEqual(sorted(os.listdir(folder)),
                             sorted(name for name in os.listdir(SCHEMAS) if name.endswith(".json")))
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), encoding="utf-8") as new, \
                        open(os.path.join(SCHEMAS, name), encoding="utf-8") as old:
                    self.assertTrue(new.read() == old.read(), f"run `dtnnc schema -o specs/schema` ({name})")

    def test_the_schemas_are_schemas(self):
        definitions = read_json(os.path.join(SCHEMAS, DEFINITIONS))
        jsonschema.Draft7Validator.check_schema(definitions)
        for name, definition in definitions["definitions"].items():
            jsonschema.Draft7Validator.check_schema(definition)
        used = set()
        for kind, schema in self.schemas.items():
            with self.subTest(kind):
                jsonschema.Draft7Validator.check_schema(schema)
                self.assertNotIn("definitions", schema)
                used |= set(re.findall(f'"\\$ref": "{DEFINITIONS}#/definitions/(\\w+)"', json.dumps(schema)))
        used |= set(re.findall(r'"\$ref": "#/definitions/(\w+)"', json.dumps(definitions)))
        self.assertEqual(set(definitions["definitions"]), used)

    def test_one_schema_by_itself_has_what_it_refers_to(self):
        definitions = read_json(os.path.join(SCHEMAS, DEFINITIONS))["definitions"]
        for kind in ("dtnn", "job", "model", "dataset", "training", "machine"):
            with self.subTest(kind):
                arguments = [] if kind == "dtnn" else ["--kind", kind]
                process = subprocess.run([DTNNC, "schema", *arguments], stdout=subprocess.PIPE, check=True)
                schema = json.loads(process.stdout)
                own = schema.pop("definitions")
                self.assertEqual(own, {name: definitions[name] for name in own})
                self.assertEqual(set(re.findall(r'"\$ref": "#/definitions/(\w+)"', json.dumps([schema, own]))), set(own))
                self.assertEqual(json.dumps(schema), json.dumps(self.schemas[kind]).replace(DEFINITIONS, ""))

    def test_the_files_serve_in_any_folder(self):
        spec = {"kind": "job", "model": {"input": {"shape": [1, 8, 8]}, "layers": ["flatten", {"dense": {"units": 3}}]},
                "dataset": {"type": "digits"}, "training": {"epochs": 2}}
        wrong = [{**spec, "model": {**spec["model"], "layers": [{"dense": {"unit": 3}}]}}, {**spec, "training": {"epochs": -1}}]
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(SCHEMAS):
                shutil.copy(os.path.join(SCHEMAS, name), folder)
            os.makedirs(os.path.join(folder, "some where", "one"))
            elsewhere = os.path.join(folder, "some where", "one")
            subprocess.run([DTNNC, "schema", "--kind", "job", "-o", elsewhere], check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(sorted(os.listdir(elsewhere)), [DEFINITIONS, "job.schema.json"])
            for path in (os.path.join(folder, "dtnn.schema.json"), os.path.join(elsewhere, "job.schema.json")):
                self.assertTrue(validator_of(path).is_valid(spec))
                for one in wrong:
                    self.assertFalse(validator_of(path).is_valid(one))

    def test_shipped_specs_are_valid_and_name_their_schema(self):
        count = 0
        for folder, _, names in os.walk(os.path.join(ROOT, "specs")):
            for name in names:
                if not name.endswith(".yaml"):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                with self.subTest(path):
                    spec = spec_yaml.load(text)
                    relative = os.path.relpath(os.path.join(SCHEMAS, spec["kind"] + ".schema.json"), folder)
                    self.assertEqual(text.split("\n", 1)[0], f"# yaml-language-server: $schema={relative}")
                    for kind in (spec["kind"], "dtnn"):
                        errors = list(self.validators[kind].iter_errors(spec))
                        self.assertEqual([], [f"{list(e.absolute_path)}: {e.message[:200]}" for e in errors], kind)
                count += 1
        self.assertGreater(count, 80)

    def test_broken_specs_are_refused(self):
        refused, skipped = 0, set()
        for file, title, text, source, structural in cases():
            # Settings are on the command line, {{...}} stands for bytes.
            if not structural or "{{" in text or re.search(r"(?m)^-- (set|check) ", source):
                continue
            with self.subTest(f"{file}: {title}"):
                try:
                    spec = spec_yaml.load(text)
                except yaml.YAMLError:
                    continue
                accepted = self.validators["dtnn"].is_valid(spec)
                if title in EXCEPTIONS:
                    skipped.add(title)
                    self.assertTrue(accepted, "this exception is needed no longer")
                else:
                    self.assertFalse(accepted, f"{sorted(structural)} is accepted")
                    refused += 1
        self.assertEqual(skipped, set(EXCEPTIONS))
        self.assertGreater(refused, 60)

    def test_printed_remedies_fit_somewhere(self):
        named, entries, others = places_in(without_references(os.path.join(SCHEMAS, "dtnn.schema.json")))

        def valid(value, schemas):
            return any(jsonschema.Draft7Validator(schema).is_valid(value) for schema in schemas)

        def fits(piece):
            value = yaml.safe_load(piece)
            open_end = re.search(r"\.\.\.|\bN\b", piece)  # what only the reader knows
            if isinstance(value, list):
                return open_end or all(valid(entry, entries) for entry in value)
            return isinstance(value, dict) and all(
                (valid(inner, named[key]) or open_end) if key in named else  # or a block's, an operator's by its name
                isinstance(inner, dict) and valid(inner, others) for key, inner in value.items())

        for wrong in ("epochs: {a: 1}", "unit: 3", "- dense: {unit: 3}", "optimizer: {sgd: {beta: 1}}"):
            self.assertFalse(fits(wrong), wrong)
        pieces = sorted(set(remedies()))
        for file, piece in pieces:
            with self.subTest(f"{file}: {piece}"):
                self.assertTrue(piece == "loss: off" or fits(piece))  # `off` is a loss of the case's own
        self.assertGreater(len(pieces), 100)


if __name__ == "__main__":
    unittest.main()
