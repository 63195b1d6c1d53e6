"""Rules of every kind on random tables, and ten tables of invented accounts: nothing is broken, and little is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import random_rules
    import rule_tables

    return random_rules.random_table, rule_tables.ten_tables


def keep_random_rules(random_table, seed):
    made, k = random_table(seed), 2 + seed % 6
    rules = list(dict.fromkeys(text for text, _ in made.rules))
    release = shoal.protect(
        made.frame, k, made.quasi_identifiers, method="mdav", rules=rules, confidential=made.kept or None
    )
    assert not any(made.broken(release.data).values()), seed
    summary = release.summary
    assert summary.smallest_group >= k, seed
    would = sum(rule.would_break for rule in summary.rules)
    if would < 0.01 * len(rules) * len(made.frame) and summary.loss_without_rules:
        assert summary.information_loss <= 1.1 * summary.loss_without_rules, seed


def test_nothing_is_broken_in_random_sets_of_rules(tables):
    for seed in range(30):
        keep_random_rules(tables[0], seed)


@pytest.mark.slow
def test_nothing_is_broken_in_a_thousand_random_sets_of_rules(tables):
    for seed in range(30, 1000):
        keep_random_rules(tables[0], seed)


def test_the_check_of_random_rules_finds_what_a_release_without_rules_breaks(tables):
    broken = 0
    for seed in range(10):
        made = tables[0](seed)
        release = shoal.protect(made.frame, 4, made.quasi_identifiers, method="mdav", confidential=made.kept or None)
        broken += sum(made.broken(release.data).values())
    assert broken > 100


@pytest.mark.parametrize(
    "name",
    [
        *("balance sheet", "energy", "wages", "education", "households"),
        *("health", "trade", "farms", "transport", "research"),
    ],
)
def test_rules_of_accounts_cost_at_most_a_tenth_of_the_loss(tables, name):
    table, columns, rules = tables[1](name, 400)
    summary = shoal.protect(table, 3, columns, method="mdav", rules=rules).summary
    assert all(rule.violations_after == 0 for rule in summary.rules)
    assert summary.information_loss <= 1.1 * summary.loss_without_rules
    assert summary.record_tuples == 0
    assert summary.suppressed_cells == 0
