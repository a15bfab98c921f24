#!/usr/bin/env python3
"""Jobs in which one rank is killed, stopped or sleeps, at a random moment of a random operation:

    tests/ranks/mpi/fault_trials.py [N] [SEED]

Prints what went wrong (a hang, another exit code, a rank that is not named, too long an end) and ends with 1 if
anything did. A failed trial is repeated by its seed: fault_trials.py 1 SEED."""

import sys

import ranks as jobs


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    reason = jobs.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    bad = 0
    for seed in range(first, first + number):
        words, faults = jobs.random_trial(seed)
        bad += bool(faults)
        print(f"{seed}: {' '.join(map(str, words))}: {'ok' if not faults else 'FAULT'}", flush=True)
        for fault in faults:
            print(fault, flush=True)
    print(f"{number} trials, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
