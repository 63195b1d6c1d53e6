"""What the program that checks certificates says: of files that it cannot check, and of what is not true."""

from __future__ import annotations

import copy
import json
import math
import re
import shutil

import numpy as np
import polars as pl
import pytest

import check_certificate as checker
import shoal
from certificate_files import FORMAT
from plain_numbers import found_and_said, in_percent
from shoal.release import certificate as written
from small_tables import table_of

K, N = 3, 16


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table of 16 records, and the certificate of its release with k = 3."""
    folder = tmp_path_factory.mktemp("made")
    table_of(np.random.default_rng(5).normal(size=(N, 2)).round(4)).write_csv(folder / "in.csv")
    release = shoal.protect(folder / "in.csv", K, ["v0", "v1"], options={"steps": 20_000, "bound": 30.0})
    release.certificate(folder / "proof.json")
    return folder


@pytest.fixture
def own(made, tmp_path):
    """A copy of both, to be changed."""
    return shutil.copytree(made, tmp_path / "own")


def say(capsys, *arguments):
    """Return how the checker ended and what it said, which is never a traceback or the name of an error."""
    code = checker.main([str(argument) for argument in arguments])
    said = capsys.readouterr().out
    assert not re.search(r"Error|Errno|np\.|nan|float64|'NoneType'", said), said
    return code, said


def change(folder, **entries):
    """Change entries of a certificate; None takes one out."""
    path = folder / "proof.json"
    content = json.loads(path.read_text()) | entries
    path.write_text(json.dumps({name: entry for name, entry in content.items() if entry is not None}))


def test_what_is_written_is_understood(made, capsys):
    assert written.FORMAT == FORMAT
    code, said = say(capsys, made / "proof.json", made / "in.csv")
    assert (code, said.count("\n")) == (0, 1)
    assert said.startswith("true: ")


def test_a_false_bound_is_told_in_percent_of_the_total(own, capsys):
    content = json.loads((own / "proof.json").read_text())
    true = 100 * content["proved"] / content["total"]
    change(own, proved=1.01 * content["proved"])
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    found, claimed = re.fullmatch(
        r"NOT TRUE: its prices prove that no partition loses less than ([\d.]+) %, and it says ([\d.]+) %\n", said
    ).groups()
    assert code == 1
    assert float(found) == pytest.approx(true, abs=2e-6)
    assert float(claimed) == pytest.approx(1.01 * true, abs=2e-6)


def test_another_cost_is_told_in_percent_and_another_total_as_it_is(own, capsys):
    content = json.loads((own / "proof.json").read_text())
    change(own, cost=0.999 * content["cost"])
    loss = 100 * content["cost"] / content["total"]
    assert (
        f"the cost of the partition is {loss:.6f} % of the total, and it says {0.999 * loss:.6f} %"
        in (say(capsys, own / "proof.json", own / "in.csv")[1])
    )
    change(own, cost=content["cost"], total=33.0)
    said = say(capsys, own / "proof.json", own / "in.csv")[1]
    assert "the sum of squares of the whole table is 32.000000, and it says 33.000000" in said


def test_numbers_have_as_many_digits_as_tell_them_apart():
    assert in_percent(1.0, 1.5, 200.0) == ("0.500000 %", "0.750000 %")
    assert in_percent(1.0, 1.0 + 1e-8, 100.0) == ("1.00000000 %", "1.00000001 %")
    assert in_percent(np.float64(0.0), 2.0, 0.0) == ("0.000000", "2.000000")
    assert found_and_said(np.float64(0.1), math.nextafter(0.1, 1.0)) == ("0.10000000000000001", "0.10000000000000002")
    assert found_and_said(1.0, 1e200) == ("1.000000", "1.000000e+200")


def test_how_many_records_cost_less_than_their_prices_is_said():
    values = np.random.default_rng(0).normal(size=(14, 2))
    with pytest.raises(checker.UntrueError, match=r"^there are 4 records that cost less than their prices$"):
        checker.least_of_block(values, np.full(14, 10.0), 4)


def test_files_that_are_not_there_or_no_json_are_named(made, tmp_path, capsys):
    proof, table = made / "proof.json", made / "in.csv"
    absent = tmp_path / "absent"
    assert say(capsys, absent, table) == (1, f"NOT CHECKED: there is no file '{absent}'\n")
    assert say(capsys, proof, absent) == (1, f"NOT CHECKED: there is no file '{absent}'\n")
    assert say(capsys, proof, tmp_path) == (1, f"NOT CHECKED: '{tmp_path}' is a folder; name a file in it\n")
    code, said = say(capsys, table, proof)
    assert code == 1
    assert (
        f"'{table}' is no JSON that can be read: it is broken at line 1, column 1; name the certificate first" in said
    )
    for name, content, reason in [
        ("deep.json", b"[" * 100_000, "nested too deeply"),
        ("long.json", b"9" * 10_000, "too many digits"),
        ("latin.json", '{"certificate": "ä"}'.encode("latin-1"), "no text in UTF-8"),
        ("list.json", b"[1, 2]", "has no entry 'certificate'"),
        ("number.json", b"3", "is no certificate of shoal"),
    ]:
        (tmp_path / name).write_bytes(content)
        code, said = say(capsys, tmp_path / name, table)
        assert code == 1
        assert said.startswith("NOT CHECKED: ")
        assert reason in said


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"certificate": None}, f"no entry 'certificate' with its format, which should be '{FORMAT}'"),
        ({"certificate": "shoal lower bound 5"}, f"is 'shoal lower bound 5', and this program understands '{FORMAT}'"),
        ({"certificate": 4}, "is no certificate of shoal"),
        ({"prices": None, "k": None}, "entry 'k' is missing, entry 'prices' is missing"),
        ({"branches": None}, "entry 'branches' is missing"),
        ({"k": 3.0}, "entry 'k' has to be a whole number of at least 2"),
        ({"k": 1}, "entry 'k' has to be a whole number of at least 2"),
        ({"k": "3"}, "entry 'k' has to be a whole number of at least 2"),
        ({"k": True}, "entry 'k' has to be a whole number of at least 2"),
        ({"proved": math.nan}, "entry 'proved' has to be a finite number"),
        ({"proved": -1e-9}, "entry 'proved' has to be a finite number of at least 0"),
        ({"proved": "low"}, "entry 'proved' has to be a finite number"),
        ({"cost": math.nan}, "entry 'cost' has to be a finite number"),
        ({"cost": math.inf}, "entry 'cost' has to be a finite number"),
        ({"total": math.nan}, "entry 'total' has to be a finite number"),
        ({"total": 10**400}, "entry 'total' has to be a finite number"),
        ({"better": {"groups": [0] * N, "cost": math.nan}}, "entry 'cost' of 'better' has to be a finite number"),
        ({"scaling": "rank"}, "entry 'scaling' has to be one of z-score, range, robust, none"),
        ({"columns": []}, "entry 'columns' has to be a list of names"),
        ({"groups": [0.5] * N}, "entry 'groups' has to be a list of whole numbers"),
        ({"prices": "high"}, "entry 'prices' has to be a list of finite numbers"),
        ({"cuts": [{"records": [0, 1, 2], "every": 2}]}, "entry 'multiplier' of cut 1 is missing"),
        ({"cuts": [{"records": [0], "every": 2.5, "multiplier": 0}]}, "entry 'every' of cut 1 has to be a whole"),
        ({"branches": [{"records": [0]}]}, "entry 'tree' in item 1 of 'branches' is missing"),
        (
            {"branches": [{"records": [0], "tree": {"pair": [0, 1]}}]},
            "entry 'together' in item 1 of 'branches' is miss",
        ),
        ({"input": {"sha256": 4}}, "entry 'name' of 'input' is missing"),
    ],
    ids=str,
)
def test_a_certificate_with_other_entries_is_refused(own, capsys, entries, reason):
    change(own, **entries)
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    assert code == 1
    assert said.startswith("NOT CHECKED: ")
    assert reason in said


@pytest.mark.parametrize("many", [N - 1, N + 1])
def test_a_certificate_of_more_or_fewer_records_is_not_true(own, capsys, many):
    change(own, records=many)
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    assert (code, said) == (1, f"NOT TRUE: it is about {many} records, and the table has {N}\n")


@pytest.mark.parametrize("records", [[0, 1, 99], [0, 1, -1], []])
def test_cuts_of_records_that_are_not_there_are_not_true(own, capsys, records):
    change(own, cuts=[{"records": records, "every": 2, "multiplier": 0.1}])
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    assert (code, said) == (1, "NOT TRUE: a cut is a set of records of one block\n")


@pytest.mark.parametrize("price", [1e308, 1e200])
def test_prices_that_overflow_stand_for_no_proof(own, capsys, price):
    """A branch that comes to no number at all must not count as one that is above all others."""
    content = json.loads((own / "proof.json").read_text())
    low = {"prices": [1e-3] * N, "cuts": []}
    high = {"prices": [price, *[0.0] * (N - 1)], "cuts": []}
    trees = [{"records": list(range(N)), "tree": {"pair": [0, 1], "together": low, "apart": high}}]
    change(own, branches=trees, proved=1e-3 * N * (1 - 1e-9), cost=content["cost"])
    assert say(capsys, own / "proof.json", own / "in.csv")[0] == 1
    change(own, branches=[], prices=high["prices"], proved=content["cost"])
    assert say(capsys, own / "proof.json", own / "in.csv")[0] == 1
    trees[0]["tree"]["apart"] = low
    change(own, branches=trees, prices=content["prices"], proved=1e-3 * N * (1 - 1e-9))
    assert say(capsys, own / "proof.json", own / "in.csv")[0] == 0


def test_a_list_without_any_group_proves_its_limit():
    values = np.random.default_rng(0).normal(size=(14, 2))
    listed = {"prices": [1e-3] * 14, "cuts": [], "below": 0.0140001}
    branches = {"listed": listed, "tree": {"prices": [1.0] * 14, "cuts": []}}
    assert checker.least_in_list(values, 3, branches, list(range(14))) == 0.0140001


def places_of(content, path=()):
    """Yield where something is in a certificate; of long lists the first item only."""
    for key in content if isinstance(content, dict) else range(min(len(content), 1)):
        yield (*path, key)
        if isinstance(content[key], dict | list):
            yield from places_of(content[key], (*path, key))


def test_whatever_is_changed_the_answer_is_a_sentence(own, capsys):
    """Every entry, item and entry of an item in turn is taken out, or is something else."""
    content = json.loads((own / "proof.json").read_text())
    leaf = {"prices": [0.0] * N, "cuts": [{"records": [0, 1, 2], "every": 2, "multiplier": 0.0}]}
    tree = {"pair": [0, 1], "together": leaf, "apart": leaf, **leaf}
    content |= {"cuts": leaf["cuts"], "proved": 0.0, "better": {"groups": content["groups"], "cost": content["cost"]}}
    content["branches"] = [{"records": list(range(N)), "tree": tree, "listed": {**leaf, "below": 0.0165}}]
    content["branches"][0]["listed"]["prices"] = [1e-3] * N
    (own / "proof.json").write_text(json.dumps(content))
    assert say(capsys, own / "proof.json", own / "in.csv")[0] == 0
    seen = 0
    for path in list(places_of(content)):
        for other in (None, "x", [], {}, [None], -1, 10**30, 1.5, math.nan, math.inf, 1e240, True):
            changed = copy.deepcopy(content)
            owner = changed
            for key in path[:-1]:
                owner = owner[key]
            owner[path[-1]] = other
            if other is None:
                del owner[path[-1]]
            (own / "proof.json").write_text(json.dumps(changed))
            assert say(capsys, own / "proof.json", own / "in.csv")[1].startswith(("true:", "NOT ")), (path, other)
            seen += 1
    assert seen > 500


def write_with_commas(folder, divided=";"):
    """Write the table with decimal commas."""
    rows = pl.read_csv(folder / "in.csv").rows()
    quoted = '"' if divided == "," else ""
    lines = [divided.join(f"{quoted}{x}{quoted}".replace(".", ",") for x in row) for row in rows]
    (folder / "commas.csv").write_text("\n".join([divided.join(["v0", "v1"]), *lines, ""]))
    return folder / "commas.csv"


@pytest.mark.parametrize("divided", [";", ",", "\t"])
def test_a_table_with_decimal_commas_is_read(own, capsys, divided):
    table = write_with_commas(own, divided)
    asked = [own / "proof.json", table, "--delimiter", divided.replace("\t", "\\t")]
    code, said = say(capsys, *asked)
    assert code == 1
    assert "NOT CHECKED: column 'v0' in line 2 of the table is not a number; if its decimal mark is ',', add" in said
    code, said = say(capsys, *asked, "--decimal", ",")
    assert code == 0
    assert said.startswith("true: ")
    code, said = say(capsys, own / "proof.json", own / "in.csv", "--decimal", ",")
    assert code == 1
    assert "if its decimal mark is '.', add --decimal ." in said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("secret,1", "column 'v0' in line 5 of the table is not a number; write it with digits only"),
        ("1_000,1", "column 'v0' in line 5 of the table is not a number"),
        ("1,nan", "column 'v1' in line 5 of the table is not a number"),
        ("1, ", "column 'v1' in line 5 of the table is empty"),
        ("1", "column 'v1' in line 5 of the table is empty"),
        ("1,2,3", "line 5 of the table has 3 cells, and its first line 2"),
        ("1e300,2", "too large, or too far apart"),
    ],
)
def test_what_is_no_number_is_told_by_column_and_line(own, capsys, line, reason):
    lines = (own / "in.csv").read_text().splitlines()
    lines[4] = line
    (own / "in.csv").write_text("\n".join(lines))
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    assert code == 1
    assert said.startswith(f"NOT CHECKED: {reason}" if "too" not in reason else "NOT CHECKED: ")
    assert reason in said
    assert "secret" not in said


def test_tables_without_the_columns_or_records_are_refused(own, capsys):
    for content, reason in [
        (b"", "does not have the columns of the certificate: 'v0', 'v1' not found"),
        (b"v0;v1\n1;2\n", "which is divided at ','; another --delimiter may do"),
        (b"v0,v1\n", "has no records"),
        (b"v0,v1,v0\n1,2,3\n", "more than one column of the name 'v0'"),
        ("v0,v1,ä\n".encode("latin-1"), "is no text in UTF-8"),
        (b"v0,v1\n" + b"1" * 200_000 + b",2\n", "cannot be read as CSV at line 2"),
    ]:
        (own / "in.csv").write_bytes(content)
        code, said = say(capsys, own / "proof.json", own / "in.csv")
        assert code == 1
        assert said.startswith("NOT CHECKED: the table")
        assert reason in said


@pytest.mark.parametrize("mark", ["", ";;", '"', "\n"])
def test_a_delimiter_is_one_character(made, capsys, mark):
    with pytest.raises(SystemExit):
        checker.main([str(made / "proof.json"), str(made / "in.csv"), "--delimiter", mark])
    assert "it is one character" in capsys.readouterr().err


OTHER = "this table is not the file that the certificate was made from, 'in.csv'; check that one\n"


def test_another_file_of_the_same_figures_is_true_and_told(own, capsys):
    table = own / "in.csv"
    table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n"))
    code, said = say(capsys, own / "proof.json", table)
    assert code == 0
    assert said.endswith(
        "the bytes of this table are not those of 'in.csv', which it was made from, but the figures hold\n"
    )


def test_a_check_that_fails_says_when_the_table_is_another_file(own, capsys):
    table = own / "in.csv"
    pl.read_csv(table).with_columns(pl.col("v0").reverse()).write_csv(table)
    code, said = say(capsys, own / "proof.json", table)
    assert code == 1
    assert said.startswith("NOT TRUE: ")
    assert said.endswith(OTHER)
    table.write_text("v0,w\n1,2\n")
    code, said = say(capsys, own / "proof.json", table)
    assert code == 1
    assert said.startswith("NOT CHECKED: ")
    assert said.endswith(OTHER)


def test_a_check_that_fails_on_the_same_file_blames_no_file(own, capsys):
    content = json.loads((own / "proof.json").read_text())
    change(own, proved=2 * content["proved"])
    assert "made from" not in say(capsys, own / "proof.json", own / "in.csv")[1]


@pytest.mark.parametrize("made_from", [None, {"name": "survey"}, {"name": "parts/", "sha256": "0", "files": 2}])
def test_without_a_checksum_of_one_file_nothing_is_said_of_files(own, capsys, made_from):
    """The checksum of several files is one of a list of them."""
    change(own, input=made_from)
    code, said = say(capsys, own / "proof.json", own / "in.csv")
    assert code == 0
    assert "bytes" not in said
