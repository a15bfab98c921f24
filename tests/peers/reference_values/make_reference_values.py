#!/usr/bin/env python3
"""Writes FAMILY.json with what PyTorch computes for the cases of FAMILY.py, for each family named, or for all.

    make_reference_values.py [FAMILY...]
"""

import importlib
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
NOT_FAMILIES = {"make_reference_values", "reference"}


def main():
    sys.path.insert(0, str(FOLDER))
    import torch

    families = sys.argv[1:] or sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in NOT_FAMILIES)
    for family in families:
        cases = list(importlib.import_module(family).cases())
        names = [case["name"] for case in cases]
        assert len(set(names)) == len(names), f"{family}: two cases have one name"
        head = json.dumps({"family": family, "torch": torch.__version__})[:-1]
        lines = ",\n".join(json.dumps(case) for case in cases)
        (FOLDER / f"{family}.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
        print(f"{family}.json: {len(cases)} cases")


if __name__ == "__main__":
    main()
