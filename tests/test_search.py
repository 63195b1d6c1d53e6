"""What every search promises, whatever its records are: one body over the methods that search."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import _cycles, search
from shoal.partition.search.pace import Lengths
from shoal.partition.search.searchable import SearchTask
from shoal.plan.plan import merge_settings
from shoal.release.declaring import declare
from shoal.release.searching import steps_again
from shoal.tables.reading import read

SEARCHING = [name for name, method in shoal.METHODS.items() if method.search]
K = 4


def table_of(n=240, seed=0):
    """Numbers for the one method, and numbers with categories for the other; and three strata of unequal sizes."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": rng.integers(0, 60, n),
            "b": rng.normal(size=n).round(2),
            "c": rng.choice(list("uvwxyz"), n),
            "s": rng.choice(["one", "two", "three"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def columns_of(method):
    return ["a", "b"] if method == "optimal" else ["a", "c"]


def problem_of(method, blocks=1, n=240):
    """The searchable problem that the pipeline makes of a table."""
    names = columns_of(method)
    settings = merge_settings(None, {"k": K, "quasi_identifiers": names, "method": method})
    _, table = read(table_of(n).select(names), settings)
    declared = declare(settings, table)
    codes = np.arange(n) % blocks
    return shoal.METHODS[method].search(SearchTask(declared.sets[0], codes, K, declared.options))


def protect(method, **more):
    names = [*columns_of(method), *(["s"] if "strata" in more else [])]
    return shoal.protect(table_of().select(names), K, columns_of(method), method=method, **more)


def test_both_methods_are_searched():
    assert SEARCHING == ["optimal", "semantic-optimal"]


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("blocks", [1, 3])
def test_the_result_depends_on_seed_and_steps_and_not_on_threads(method, blocks):
    problem = problem_of(method, blocks)
    steps = 300 * problem.size
    one, two, other, fewer = (
        search(problem, seed, Budget(steps=made), threads)
        for seed, made, threads in ((0, steps, 1), (0, steps, 2), (1, steps, 2), (0, 0, 1))
    )
    assert (one.groups == two.groups).all()
    assert one.cost == two.cost
    assert (one.groups != other.groups).any()
    assert one.cost < fewer.cost
    assert (one.passes, one.steps, fewer.steps) == (300, steps, 0)


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("more", [{}, {"strata": "s"}], ids=["whole", "strata"])
def test_one_and_two_threads_give_the_same_bytes(method, more, tmp_path):
    for threads in (1, 2):
        protect(method, **more, options={"steps": 20_000}, threads=threads).write(tmp_path / f"{threads}.csv")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("blocks", [1, 3])
def test_groups_keep_k_and_cross_no_block(method, blocks):
    problem = problem_of(method, blocks)
    found = search(problem, 0, Budget(steps=100 * problem.size), 2)
    assert np.bincount(found.groups).min() >= K
    crossed = {(group, row % blocks) for row, group in enumerate(found.groups.tolist())}
    assert len(crossed) == found.groups.max() + 1
    assert 0.0 < found.cost < found.total


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_search_by_the_clock_is_repeated_by_its_steps(method, blocks):
    problem = problem_of(method, blocks)
    timed = search(problem, 5, Budget(time=0.6), 2)
    again = search(problem, 5, Budget(steps=timed.steps), 1)
    assert timed.steps > 0
    assert again.steps == timed.steps
    assert (timed.groups == again.groups).all()


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("blocks", [1, 3])
def test_an_interruption_keeps_the_best_so_far_which_its_steps_repeat(method, blocks):
    problem = problem_of(method, blocks)

    def tell(part, cost, bound):
        if part > 0.1:
            raise KeyboardInterrupt

    found = search(problem, 0, Budget(steps=20_000 * problem.size), 2, tell)
    assert found.interrupted
    assert 0 < found.steps < 20_000 * problem.size
    assert (found.groups == search(problem, 0, Budget(steps=found.steps), 1).groups).all()
    assert np.bincount(found.groups).min() >= K


@pytest.mark.parametrize("method", SEARCHING)
def test_an_interrupted_release_is_complete_says_so_and_can_be_repeated(method):
    def interrupt(done, words=""):
        if done > 24:
            raise KeyboardInterrupt

    settings = {"strata": "s", "options": {"steps": 5_000_000}}
    release = protect(method, **settings, progress=interrupt)
    assert release.summary.smallest_group >= K
    assert any("interrupted" in note for note in release.summary.notes)
    again = protect(method, strata="s", options={"steps": release.steps_again})
    assert (again.groups == release.groups).all()


@pytest.mark.parametrize("method", SEARCHING)
def test_sets_that_an_interruption_left_behind_cannot_be_repeated(method):
    def interrupt(done, words=""):
        if done > 24:
            raise KeyboardInterrupt

    columns = columns_of(method)
    table = table_of().select(columns).with_columns(d=pl.col(columns[0]).reverse(), e=pl.col(columns[1]).shuffle(1))
    sets = [columns, ["d", "e"]]
    release = shoal.protect(table, K, sets, method=method, options={"steps": 5_000_000}, progress=interrupt)
    assert release.summary.steps[0] > release.summary.steps[1] == 0
    assert release.steps_again is None


@pytest.mark.parametrize("method", SEARCHING)
def test_one_number_repeats_several_sets_that_were_searched_for_a_time(method):
    columns = columns_of(method)
    table = table_of().select(columns).with_columns(d=pl.col(columns[0]) // 7, e=pl.col(columns[1]).shuffle(1))
    sets = [columns, ["d", "e"]]
    timed = shoal.protect(table, K, sets, method=method, options={"time": 0.6})
    again = shoal.protect(table, K, sets, method=method, options={"steps": timed.steps_again})
    assert (timed.groups == again.groups).all()
    assert timed.summary.steps == again.summary.steps
    assert min(timed.summary.steps) > 0


@pytest.mark.parametrize("lengths", [Lengths(10, longest=3000.0), Lengths(50), Lengths(20, growth=8)])
def test_cycles_that_a_clock_has_chosen_are_those_of_their_sum(lengths):
    """Whatever time seems to be left before each cycle, their sum alone says which they were."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        made, room = [], np.inf
        for _ in range(rng.integers(1, 12)):
            left = min(room, np.inf if rng.random() < 0.3 else 10.0 ** rng.uniform(0, 5))
            this, after = lengths.following(made[-1] if made else 0, left)
            if this == 0:
                break
            made.append(this)
            room = min(room - this, after)
        assert cycles_of(lengths, sum(made)) == made


@pytest.mark.parametrize("lengths", [Lengths(10, longest=3000.0), Lengths(20, growth=8)])
def test_a_number_of_proposals_is_used_up(lengths):
    for passes in (1, 9, 10, 19, 20, 29, 30, 31, 100, 3000, 12_345):
        made = cycles_of(lengths, passes)
        assert sum(made) == passes
        assert max(made) <= lengths.longest + lengths.first


def cycles_of(lengths, passes):
    """The lengths of the cycles of a search for so many proposals for each record."""
    made = []

    class Counting:
        size = 1

        def __init__(self):
            self.lengths = lengths

        def start(self, threads, tell=None):
            return 0

        def finished(self, state):
            return False

        def cost(self, state):
            return 1.0

        def cycle(self, state, passes, seeds, threads, pace, progress):
            made.append(passes)
            return 0

    _cycles(Counting(), 0, passes)
    return made


def test_the_number_that_repeats_searches():
    assert steps_again({700}, free=True) == 700
    assert steps_again({700}, free=False) is None  # the plan repeats it
    assert steps_again({700, 300}, free=True) is None
    assert steps_again(set(), free=True) is None  # all were settled at once


@pytest.mark.parametrize(("method", "measure"), [("optimal", "loss"), ("semantic-optimal", "loss")])
@pytest.mark.parametrize("more", [{}, {"strata": "s"}], ids=["whole", "strata"])
def test_the_progress_rises_and_what_is_lost_falls(method, measure, more):
    told = []
    protect(method, **more, options={"steps": 600_000}, progress=lambda done, words="": told.append((done, words)))
    done, words = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == 240
    assert all(text.startswith(f"{measure} ") and text.endswith(" %") for text in words)
    losses = [float(text.removeprefix(measure).removesuffix("%")) for text in words]
    assert len(set(losses)) > 1
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("method", SEARCHING)
def test_where_there_is_nothing_to_lose_no_step_is_made(method):
    columns = columns_of(method)
    few = table_of(6).select(columns)
    release = shoal.protect(pl.concat([few] * K), K, columns, method=method, options={"steps": 10_000})
    assert release.summary.steps == [0]
    assert release.summary.loss == 0.0
    assert (release.summary.bound, release.summary.gap) == (0.0, 0.0)


@pytest.mark.parametrize("method", SEARCHING)
def test_refining_what_was_searched_is_an_error(method):
    with pytest.raises(shoal.PlanError, match="refine: has no effect with method"):
        protect(method, refine=True)
