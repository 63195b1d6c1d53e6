"""The engine in a process of its own, which can be ended: what a rule does there, and for how long, is not ours to say.

A regular expression or a loop of a rule can take longer than anybody waits, and Saxon, once it runs, cannot be stopped
from inside. The process answers questions, one line of JSON each: a stylesheet to try, a stylesheet and its original to
keep, a document to transform. It is started once, serves all rules of the program, and ends with it. What Saxon prints
may have cells in it and goes nowhere.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

_LATER = 5  # seconds after which a process whose program is gone ends itself


class EngineError(Exception):
    """The engine refused; its reason may show cells, so it is not for messages as it is."""


class EngineTimeout(Exception):  # noqa: N818 - says what happened
    """The engine took too long, and its process was ended."""


class EngineProcess:
    """A running process, and questions to it."""

    def __init__(self) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )

    @property
    def usable(self) -> bool:
        """Whether it runs, and was started by this process and not by one that it was forked from."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, seconds: float, **question: Any) -> str:
        """Return the answer to a question; raises EngineError or, after so many seconds, EngineTimeout."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self.process.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps({**question, "seconds": seconds}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = b""
        except BaseException:  # an interruption: the next question must not get the answer to this one
            self.end()
            raise
        finally:
            timer.cancel()
        if not line:
            self.end()
            if late.is_set():
                raise EngineTimeout
            raise EngineError("it ended without an answer")
        answer = json.loads(line)
        if "error" in answer:
            raise EngineError(answer["error"])
        return str(answer["out"])

    def end(self) -> None:
        """End the process."""
        if self.owner != os.getpid():
            return
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


_running: list[EngineProcess] = []


def engine_process() -> EngineProcess:
    """Return the process that runs, or start it."""
    if not _running or not _running[0].usable:
        _running[:] = [EngineProcess()]
    return _running[0]


@atexit.register
def _end_running() -> None:
    for process in _running:
        process.end()


def serve() -> None:
    """Answer questions until there are no more."""
    from saxonche import PySaxonProcessor

    questions = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what Saxon prints is no answer
    with PySaxonProcessor(license=False) as processor:
        processor.set_configuration_property("http://saxon.sf.net/feature/allowedProtocols", "none")
        sheet: Any = None
        for line in questions:
            question = json.loads(line)
            if hasattr(signal, "alarm"):
                signal.alarm(int(question["seconds"]) + _LATER)
            try:
                out = ""
                if "sheet" in question:
                    compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_text=question["sheet"])
                    if "original" in question:
                        sheet = compiled
                        sheet.set_parameter(question["parameter"], processor.parse_xml(xml_text=question["original"]))
                else:
                    node = processor.parse_xml(xml_text=question["document"])
                    out = sheet.transform_to_string(xdm_node=node) or ""
                answer = {"out": out}
            except Exception as error:  # saxonche's own class is not exported
                answer = {"error": str(error)}
            if hasattr(signal, "alarm"):
                signal.alarm(0)
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()


if __name__ == "__main__":
    serve()
