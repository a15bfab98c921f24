"""A Slurm of one machine, apart from any that the system has: Debian's munged, slurmctld and slurmd with their
configuration, key, socket, spool and logs in one temporary folder, and ports of their own."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "scancel", "squeue")
PACKAGES = "slurmctld slurmd slurm-client munge"

KILL_WAIT = 30  # seconds between Slurm's TERM and its KILL

# Without cgroups, so that it runs in a container; each node's cores and memory are what is said here, not what the
# machine has. `cred_expire` is also how long a requeued job waits before it may start again, 120 s by default.
CONFIGURATION = """ClusterName=dtnn_test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldDebug=debug
SlurmdDebug=debug
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
InactiveLimit=0
KillWait={kill_wait}
MinJobAge=600
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 State=UNKNOWN
PartitionName=low Nodes={node} Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=60
PartitionName=high Nodes={node} MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


class Unavailable(Exception):
    """Why there can be no Slurm here, and what would help."""


def find(program):
    """The daemons are in folders that only root's PATH has."""
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin:/usr/local/sbin")


def reason_for_none():
    """Why this machine cannot have one; empty: it can."""
    missing = [program for program in PROGRAMS if not find(program)]
    if missing:
        return f"{', '.join(missing)}: not there (Debian: apt-get install --no-install-recommends {PACKAGES})"
    if os.geteuid() != 0:
        return "slurmd starts jobs as their users, for which it must be root"
    return ""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """`with Cluster() as cluster:` is a Slurm of one node of 8 cores, of which nothing is left behind."""

    def __enter__(self):
        if reason := reason_for_none():
            raise Unavailable(reason)
        self.daemons = []
        # Sockets have short names, whatever TMPDIR is.
        self.folder = tempfile.mkdtemp(prefix="slurm-", dir="/tmp")
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    def _start(self):
        os.chmod(self.folder, 0o755)
        for name, mode in (("munge", 0o755), ("state", 0o700), ("spool", 0o755)):
            os.mkdir(os.path.join(self.folder, name))
            os.chmod(os.path.join(self.folder, name), mode)
        key = os.path.join(self.folder, "munge", "key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(secrets.token_bytes(128))
        self.config = os.path.join(self.folder, "slurm.conf")
        self.node = "node1"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(
                folder=self.folder, kill_wait=KILL_WAIT, user=pwd.getpwuid(os.geteuid()).pw_name, node=self.node,
                host=socket.gethostname().split(".")[0], controller_port=free_port(), node_port=free_port()))
        with open(os.path.join(self.folder, "cgroup.conf"), "w", encoding="utf-8") as file:
            file.write("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n")
        munge = os.path.join(self.folder, "munge")
        self._daemon("munged", "--foreground", "--force", "--key-file", key, "--socket", f"{munge}/socket",
                     "--pid-file", f"{munge}/pid", "--seed-file", f"{munge}/seed", "--log-file", f"{munge}/log")
        self._wait("munged's socket", lambda: os.path.exists(f"{munge}/socket"))
        self._daemon("slurmctld", "-D", "-i", "-f", self.config)
        self._wait("slurmctld", lambda: self.run("scontrol", "ping", check=False).stdout.find(" is UP") > 0)
        self._daemon("slurmd", "-D", "-f", self.config, "-N", self.node)
        self._wait("the node", lambda: "State=IDLE" in self.run("scontrol", "show", "node", self.node, check=False).stdout)

    def _daemon(self, *command):
        log = open(os.path.join(self.folder, command[0] + ".out"), "wb")
        with log:
            self.daemons.append(subprocess.Popen((find(command[0]), *command[1:]), stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=log, env=self.environment(), start_new_session=True))

    def _wait(self, what, ready, seconds=30):
        end = time.monotonic() + seconds
        while not ready():
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                why = f"{', '.join(ended)} ended" if ended else f"not ready within {seconds} s"
                raise RuntimeError(f"{what}: {why}\n{self.logs()}")
            time.sleep(0.1)

    def _stop(self):
        """Jobs first, while there is somebody to end them; then the daemons, the last one first."""
        if len(self.daemons) == 3:
            try:
                self.run("scancel", "--full", "--user", str(os.geteuid()), check=False)
                end = time.monotonic() + 10
                while self.run("squeue", "-h", check=False).stdout.strip() and time.monotonic() < end:
                    time.sleep(0.2)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"could not end the jobs: {error}")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for process in self.left():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def left(self):
        """Processes with this cluster's configuration in their environment: its jobs and slurmstepd."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if f"SLURM_CONF={self.config}\0".encode() in file.read() and int(name) != os.getpid():
                        found.append(int(name))
            except OSError:
                continue
        return found

    def environment(self):
        """Nothing of a Slurm that this process may itself run in."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "SBATCH", "PMI", "SALLOC"))}
        kept["SLURM_CONF"] = self.config
        kept["PATH"] = kept.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
        return kept

    def run(self, *command, check=True, cwd=None, timeout=60):
        done = subprocess.run(command, cwd=cwd, env=self.environment(), text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def submit(self, script, *options, cwd):
        """The number of the job."""
        return int(self.run("sbatch", "--parsable", *options, script, cwd=cwd).stdout.split(";")[0])

    def job(self, number):
        """What scontrol says of a job, by name: JobState, Restarts, ExitCode ..."""
        words = self.run("scontrol", "--oneliner", "show", "job", str(number)).stdout.split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def wait_for(self, number, states, seconds):
        """Until the job is in one of these states."""
        end = time.monotonic() + seconds
        while (job := self.job(number))["JobState"] not in states:
            if time.monotonic() > end:
                raise RuntimeError(f"job {number} is {job['JobState']} ({job.get('Reason')}) after {seconds} s, "
                                   f"not {' or '.join(states)}\n{self.logs()}")
            time.sleep(0.1)
        return job

    def logs(self, lines=40):
        text = ""
        for name in ("munged.out", "munge/log", "slurmctld.out", "slurmctld.log", "slurmd.out", "slurmd.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += f"--- {name}\n" + "".join(file.readlines()[-lines:])
        return text
