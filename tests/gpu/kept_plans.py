#!/usr/bin/env python3
"""Plans that cuDNN has compiled are kept for the next process, and only those of this user are loaded.

    tests/gpu/kept_plans.py --cudnn LIBRARY

As tests/gpu/cudnn_plans.py has cuDNN plan without a device: what the planner writes says what was made and what was loaded.
"""

import argparse
import glob
import os
import sys
import tempfile

from cudnn_plans import Planner, missing

OTHER_USER = 12345


class Run:
    """What a step takes: plans that were made, and that were loaded."""

    def __init__(self, planner, path):
        lines, fault = planner.step(path, "train")
        assert not fault, fault
        self.made = sum(line.startswith("made") for line in lines)
        self.loaded = lines.count("loaded status 0")
        self.refused = sum(line.startswith("loaded") for line in lines) - self.loaded
        self.ran = sum(line.startswith(("engine", "runs")) for line in lines)


def changed(path, change):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    change(content)
    with open(path, "wb") as file:
        file.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudnn", required=True, help="libcudnn.so.9")
    options = parser.parse_args()
    if reason := missing(options.cudnn):
        print(f"skipped: {reason}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(options.cudnn, folder)
        planner.environment["DTNN_CACHE_DIR"] = os.path.join(folder, "cache")
        path = os.path.join(folder, "plan.json")
        done = planner.compile(path, "simplecnn", 8, "bf16")
        assert done.returncode == 0, done.stderr

        first = Run(planner, path)
        kept = sorted(glob.glob(os.path.join(folder, "cache", "cudnn", "*")))
        print(f"first run: {first.made} made, {len(kept)} kept, {sum(map(os.path.getsize, kept)) // 1024} KiB")
        assert kept and first.loaded == 0
        contents = [open(entry, "rb").read() for entry in kept]

        def compiles_again(what, entries):
            """The plans of so many entries are made anew and kept as they were."""
            run = Run(planner, path)
            print(f"{what}: {run.made} made, {run.loaded} loaded")
            assert (run.made, run.loaded, run.refused, run.ran) == (
                first.made - len(kept) + entries, len(kept) - entries, 0, first.ran), what

        compiles_again("second run", 0)
        for what, change in (("a bit is not as it was", lambda content: content.__setitem__(-9, content[-9] ^ 1)),
                             ("the end is missing", lambda content: content.__delitem__(slice(-40, None)))):
            changed(kept[0], change)
            compiles_again(what, 1)
            compiles_again("and then", 0)
        # The plan of another graph: its key is another.
        if len(kept) > 1:
            changed(kept[0], lambda content: content.__setitem__(slice(None), contents[1]))
            compiles_again("another graph's plan", 1)
        os.chmod(kept[0], 0o666)
        compiles_again("everybody may write the entry", 1)
        if os.geteuid() == 0:
            os.chown(kept[0], OTHER_USER, -1)
            compiles_again("somebody else's entry", 1)
        os.chmod(os.path.dirname(kept[0]), 0o777)
        compiles_again("everybody may write the folder", len(kept))
        os.chmod(os.path.dirname(kept[0]), 0o700)
        compiles_again("at last", 0)
        planner.environment["DTNN_CACHE_DIR"] = ""
        compiles_again("no folder", len(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
