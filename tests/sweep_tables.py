"""A small survey, the runs that a sweep of it starts, and when one result beats another."""

import threading

import shoal
from shoal.sweeps import running

COLUMNS = ["age", "height", "hours"]


def small_survey():
    return shoal.example(120).drop("name")


def counted_runs(monkeypatch):
    """Return every (method, k) that is protected, in a list that grows; no pictures are drawn, which takes longer."""
    monkeypatch.setattr("shoal.sweeps.risk_utility_map.find_spec", lambda name: None)
    runs, lock = [], threading.Lock()
    real = running.protect

    def counting(data, *, plan, **how):
        with lock:
            runs.append((plan.method, plan.k))
        return real(data, plan=plan, **how)

    monkeypatch.setattr(running, "protect", counting)
    return runs


def beaten(one, other):
    return other[0] <= one[0] and other[1] <= one[1] and other != one
