"""A master and two workers of Spark on loopback, for tests that start programs on them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

NEEDS_SPARK = [
    pytest.mark.spark,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed: make test-engines installs it"),
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="there is no Java"),
]
ENVIRONMENT = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def own_mounts():
    """Whether a process may have file systems of its own, such as one that is soon full."""
    asked = ["unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(asked, capture_output=True, check=False).returncode == 0


def start_program(master, folder, results, cases):
    """Start the program that protects the table of the tests on a cluster."""
    command = [sys.executable, Path(__file__).with_name("spark_program.py"), master, folder, results, *cases]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def results_of(process, results, cases):
    """Return what the program found, for each case."""
    said = process.communicate(timeout=1500)[0]
    assert process.returncode == 0, said[-3000:]
    found = json.loads((results / "digests.json").read_text())
    assert list(found) == list(cases)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ready(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start_cluster(tmp_path):
    """A master and two workers of one core each, on loopback."""
    import pyspark

    port = free_port()
    run = [str(Path(pyspark.__file__).parent / "bin" / "spark-class")]
    daemon = "org.apache.spark.deploy"
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    log = (tmp_path / "cluster.log").open("w")
    master = f"spark://127.0.0.1:{port}"
    processes = [
        subprocess.Popen([*run, f"{daemon}.master.Master", *here, "--port", str(port)], env=ENVIRONMENT, stderr=log)
    ]
    deadline = time.time() + 120
    while not ready(port):
        assert time.time() < deadline, "the master did not start"
        time.sleep(0.5)
    more = ["--cores", "1", "--memory", "1500m", "--work-dir", str(tmp_path / "work")]
    for _ in range(2):
        worker = [*run, f"{daemon}.worker.Worker", *here, *more, master]
        processes.append(subprocess.Popen(worker, env=ENVIRONMENT, stderr=log))
    yield master, [process.pid for process in processes[1:]]
    for process in reversed(processes):
        process.terminate()
        process.wait(60)
    log.close()
