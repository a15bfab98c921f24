#!/usr/bin/env python3
"""The long form of the resume test: `kill_trials.py [KILLS [SEED]]` (100, and the clock) kills runs of every job of kills.py at
random moments until there were so many kills, and compares each run's weights with those of the run without a break."""

import sys
import tempfile
import time

from kills import JOBS, Trial


def main():
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        trials = [Trial(name, folder) for name in JOBS]
        kills = runs = 0
        while kills < wanted:
            trial = trials[runs % len(trials)]
            done, checkpoints, _ = trial.interrupted(runs, 12, seed + runs)
            runs += 1
            kills += done
            print(f"{trial.name}: {done} kills, at most {checkpoints} checkpoints on disk, the same weights; {kills} in all", flush=True)
        half = sum(trial.half_written for trial in trials)
    print(f"{kills} kills, {half} of them while a checkpoint was written or removed, over {runs} runs of {len(trials)} jobs: every "
          "run ended with the bits of the run without a break, and every checkpoint could be read all the time")


if __name__ == "__main__":
    main()
