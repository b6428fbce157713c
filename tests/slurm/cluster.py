# SPDX-License-Identifier: BSD-3-Clause
"""A batch system of this machine alone: Debian's munged, slurmctld and several slurmd, each a node
of its own name and port, with all of their files in one folder. Needs root, as slurmd does."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "scancel", "squeue")
NODES = 3
FIRST_JOB = 1234  # as in docs/how-to/slurm.md

SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
FirstJobId={first}
KillWait=15
MinJobAge=600
NodeName=node[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{port_first}-{port_last}] \
CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here, or an empty string."""
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    if absent:
        return "not installed: " + ", ".join(absent)
    return "" if os.geteuid() == 0 else "it needs root"


def free_ports(count):
    """So many ports in a row that nobody listens on now."""
    for first in range(26000 + os.getpid() % 4000, 32000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


class Cluster:
    """`with Cluster(folder) as cluster`: `cluster.environment` leads commands to it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self, *command):
        subprocess.run([str(word) for word in command], env=self.environment, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        folder, host = self.folder, socket.gethostname().split(".")[0]
        for name in ("state", *(f"tmp.node{i}" for i in range(1, NODES + 1))):
            (folder / name).mkdir()
        folder.chmod(0o755)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)
        port = free_ports(NODES + 1)
        # As many ranks as a test wants on one node.
        (folder / "slurm.conf").write_text(SETTINGS.format(
            host=host, folder=folder, port=port, port_first=port + 1, port_last=port + NODES,
            nodes=NODES, first=FIRST_JOB, cpus=os.cpu_count()))
        try:
            self.start("munged", "--force", f"--socket={folder}/munge.socket",
                       f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
                       f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed",
                       "--num-threads=2")
            self.start("slurmctld", "-f", folder / "slurm.conf")
            for node in range(1, NODES + 1):
                self.start("slurmd", "-f", folder / "slurm.conf", "-N", f"node{node}")
            self.wait_for_nodes()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_for_nodes(self):
        for _ in range(300):
            done = subprocess.run(["sinfo", "-h", "-o", "%D", "-t", "idle"], env=self.environment,
                                  capture_output=True, text=True)
            if done.stdout.strip() == str(NODES):
                return
            time.sleep(0.2)
        raise RuntimeError("the nodes do not come up: " + self.logs())

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-800:]}"
                         for path in sorted(self.folder.glob("slurm*.log")))

    def __exit__(self, *_):
        pids = [int(path.read_text()) for path in self.folder.glob("*.pid")]
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in pids:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            for _ in range(50):
                pids = [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()]
                if not pids:
                    return
                time.sleep(0.1)
