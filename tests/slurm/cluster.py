# SPDX-License-Identifier: Apache-2.0
"""A Slurm of its own on this machine: a controller and several nodes, each with a name and a power switch.

    with Cluster(nodes=3) as cluster:
        cluster.run("sbatch", "--wait", "job.sh")
        cluster.kill_node(1)

Everything is in a temporary folder: configuration, logs, the key and socket of munge; ports are free ones. As root each
node has a host name of its own (`own_hosts`), else all have this machine's.
"""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
KEEPER = pathlib.Path(__file__).resolve().parent / "keeper.py"


def missing():
    """What is not installed of Slurm."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


def skip_without_slurm():
    if lacking := missing():
        print(f"skipped: no {', '.join(lacking)} here (Debian: slurmctld slurmd slurm-client munge)")
        sys.exit(SKIPPED)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, seconds, what):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(what() if callable(what) else what)
        time.sleep(0.05)


class Cluster:
    def __init__(self, nodes=3, gpus=0, task_prolog=None):
        """`gpus` of each node, for --gres; `task_prolog`: lines of sh run before each task, the batch script among them,
        as that task's node; what it prints as "export NAME=value" is in the task's environment."""
        self.nodes, self.gpus, self.task_prolog = nodes, gpus, task_prolog
        self.keepers = {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def name(self, node):
        return f"n{node}"

    def start(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="slurm_", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH_"))}
        self.environment |= {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}
        try:
            self.own_hosts = subprocess.run([sys.executable, KEEPER, "n1", "hostname"], capture_output=True,
                                            text=True, timeout=20).stdout.strip() == "n1"
            self.write_configuration()
            self.start_munge()
            self.keep("slurmctld", "slurmctld", "-D", "-i")
            for node in range(1, self.nodes + 1):
                self.restart_node(node)
            self.wait_for_nodes("idle", *range(1, self.nodes + 1))
        except BaseException:
            print(self.logs(), file=sys.stderr)
            self.stop()
            raise

    def stop(self):
        for keeper in reversed(list(self.keepers.values())):
            self.end(keeper)
        self.keepers = {}
        self.temporary.cleanup()

    def keep(self, name, *command, host="-"):
        log = open(self.folder / f"{name}.out", "a")
        self.keepers[name] = subprocess.Popen([sys.executable, KEEPER, host, *command], env=self.environment,
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        log.close()

    @staticmethod
    def end(keeper):
        if keeper.poll() is None:
            keeper.send_signal(signal.SIGTERM)
        keeper.wait(timeout=30)

    def write_configuration(self):
        ports = free_ports(1 + self.nodes)
        lines = [
            "ClusterName=test", "SlurmctldHost=localhost(127.0.0.1)", f"SlurmctldPort={ports[0]}",
            f"SlurmUser={getpass.getuser()}", f"SlurmdUser={getpass.getuser()}",
            # A job that lost its node waits for the end of its credential before it is started again.
            f"AuthInfo=socket={self.folder}/munge.socket,cred_expire=5",
            f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/spool-%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/%n.pid",
            f"SlurmctldLogFile={self.folder}/slurmctld.log", f"SlurmdLogFile={self.folder}/%n.log",
            # Nothing of the machine that a user could not use.
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "SwitchType=switch/none", "MpiDefault=none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides", "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0",
            # Soon known to be dead; soon back.
            "SlurmdTimeout=6", "ReturnToService=2", "KillWait=5", "CompleteWait=0", "MessageTimeout=5",
        ]
        if self.gpus:
            lines.append("GresTypes=gpu")
            for number in range(self.gpus):
                (self.folder / f"gpu{number}").symlink_to("/dev/null")  # Slurm wants a device, and never opens it
            files = f"{self.folder}/gpu[0-{self.gpus - 1}]" if self.gpus > 1 else f"{self.folder}/gpu0"
            (self.folder / "gres.conf").write_text(f"Name=gpu File={files}\n")
        if self.task_prolog:
            prolog = self.folder / "task_prolog"
            prolog.write_text("#!/bin/sh\n" + self.task_prolog)
            prolog.chmod(0o755)
            lines.append(f"TaskProlog={prolog}")
        for node, port in enumerate(ports[1:], 1):
            host = "" if self.own_hosts else f"NodeHostname={socket.gethostname()} "
            gres = f" Gres=gpu:{self.gpus}" if self.gpus else ""
            lines.append(f"NodeName={self.name(node)} {host}NodeAddr=127.0.0.1 Port={port} CPUs=4{gres}")
            (self.folder / f"spool-{self.name(node)}").mkdir()
        lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        # Its folder is no root's alone to write to when this is run by a user: --force.
        self.keep("munged", "munged", "-F", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                  f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed")
        wait_until((self.folder / "munge.socket").exists, 20, "munged does not start")

    def run(self, *command, check=True, timeout=60, **options):
        """A command as a user of this Slurm, anywhere; its output as text."""
        done = subprocess.run(command, env=self.environment | options.pop("env", {}), capture_output=True, text=True,
                              timeout=timeout, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def on_node(self, node, *command, **options):
        """The same with that node's host name, outside of any job."""
        return self.run(sys.executable, str(KEEPER), self.name(node), *command, **options)

    def kill_node(self, node):
        """As if its power went: SIGKILL for slurmd, all jobs and all they started, at once."""
        self.end(self.keepers.pop(self.name(node)))

    def cut_off_node(self, node):
        """As if its network went: jobs go on there, and Slurm takes them for lost. SIGCONT to what is returned mends it."""
        keeper = self.keepers[self.name(node)].pid
        children = pathlib.Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
        (slurmd,) = [int(pid) for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text() == "slurmd\n"]
        os.kill(slurmd, signal.SIGSTOP)
        return slurmd

    def restart_node(self, node):
        name = self.name(node)
        self.keep(name, "slurmd", "-D", "-N", name, host=name if self.own_hosts else "-")

    def node_states(self):
        said = self.run("sinfo", "-h", "-N", "-o", "%N %T", check=False).stdout
        return dict(line.split() for line in said.splitlines())

    def wait_for_nodes(self, state, *nodes, seconds=60):
        wanted = {self.name(node) for node in nodes}
        wait_until(lambda: wanted <= {name for name, now in self.node_states().items() if now == state}, seconds,
                   lambda: f"{wanted} are not {state}: {self.node_states()}")

    def jobs(self):
        """Of every task that is not yet over: {"12_3": ("RUNNING", "n1")}."""
        said = self.run("squeue", "-h", "-r", "-o", "%i|%T|%N").stdout
        return {words[0]: (words[1], words[2]) for words in (line.split("|") for line in said.splitlines())}

    def wait_for_no_jobs(self, seconds=120):
        wait_until(lambda: not self.jobs(), seconds, lambda: f"{self.jobs()}\n{self.logs()}")

    def logs(self):
        """The ends of all logs, for who looks why something failed."""
        out = []
        for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")):
            out += [f"--- {path.name}", *path.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(out)
