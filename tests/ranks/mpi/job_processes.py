"""The processes of a running job, as /proc shows them."""

import os
import time


def _stat(pid):
    """(name, state, parent), or nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    name, _, rest = text[text.index("(") + 1:].rpartition(")")
    words = rest.split()
    return name, words[0], int(words[1])


def descendants(pid):
    """Of this process, itself not."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = _stat(entry)
            if stat and stat[1] != "Z":
                children.setdefault(stat[2], []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        more = children.get(todo.pop(), [])
        found += more
        todo += more
    return found


def children(pid):
    return [process for process in descendants(pid) if (_stat(process) or ("", "", 0))[2] == pid]


def launcher_of(pid):
    """The mpiexec that a job has started, not the process that hands on what it prints."""
    return next(process for process in children(pid) if _stat(process)[0] != "dtnn-run-relay")


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return dict(word.decode(errors="replace").partition("=")[::2] for word in file.read().split(b"\0") if word)
    except OSError:
        return {}


def ranks_of(pid):
    """{rank: process} of the ranks below a launcher: the processes that train, not those that watch them."""
    found = {}
    for process in descendants(pid):
        stat = _stat(process)
        if stat is None or stat[0] != "dtnn-run":
            continue
        parent = _stat(stat[2])
        if parent is None or parent[0] != "dtnn-run-watch":
            continue
        rank = environment(process).get("PMI_RANK")
        if rank is not None:
            found[int(rank)] = process
    return found


def watchers_of(pid):
    """{rank: process} of the parents that watch the ranks below a launcher."""
    found = {}
    for process in descendants(pid):
        rank = environment(process).get("PMI_RANK")
        if (_stat(process) or ("",))[0] == "dtnn-run-watch" and rank is not None:
            found[int(rank)] = process
    return found


def launchers_of(pid):
    """What is below `dtnn-run --ranks` and above the parents that watch ranks: mpiexec and its proxies."""
    return [process for process in descendants(pid) if not (_stat(process) or ("dtnn-run",))[0].startswith("dtnn-run")]


def marked(mark):
    """Processes with this word in their command line: what a job has left behind."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read()
        except OSError:
            continue
        stat = _stat(entry)
        if mark.encode() in words and stat and stat[1] != "Z":
            found.append((int(entry), stat[0]))
    return found


def wait_until(condition, seconds, pause=0.005):
    """What the condition gives once that is true; what it gave last when the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)
