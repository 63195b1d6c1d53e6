"""The command line: results on standard output, messages on standard error, status 2 for a mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from command_line import manifest_of, run
from shoal.cli import program
from shoal.cli.commands import COMMANDS, load_command

SUMMARY = {
    "method", "k", "records", "groups", "smallest_group", "largest_group", "sse", "sst", "information_loss", "seconds",
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "survey.csv"
    shoal.example(60).write_csv(path)
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "release.csv"


def test_json_is_one_object_with_the_summary_and_nothing_else(table, out):
    result = run("protect", table, "-o", out, "-k", 4, "-q", "age,height", "--drop", "name", "-m", "mdav", "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert set(summary) >= SUMMARY
    assert result.stdout.count("\n") == 1
    direct = shoal.protect(table, 4, ["age", "height"], identifiers="name", method="mdav")
    assert {name: summary[name] for name in SUMMARY - {"seconds"}} == {
        name: direct.summary[name] for name in SUMMARY - {"seconds"}
    }
    assert pl.read_csv(out).equals(direct.data)


def test_the_installed_command_writes_results_only_to_standard_output(table, out):
    words = ["protect", table, "-o", out, "-k", "4", "-q", "age,income", "-q", "height", "--drop", "name"]
    code = "from shoal.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "-m", "mdav", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["method"] == "mdav"
    assert done.stderr.startswith("note: k = 4 holds for each of the 2 sets")


def test_without_json_the_summary_is_a_table(table, out):
    roles = ["-q", "height", "--drop", "name,income,weight", "--keep", "age,hours,region,satisfied"]
    result = run("protect", table, "-o", out, "-k", 4, *roles, "--decimals", "all")
    assert "information loss" in result.stdout
    assert "optimal, k = 4" in result.stdout
    assert result.stderr == ""


def test_all_numeric_takes_every_number_but_what_has_another_role(table, out):
    words = ["-k", 3, "--all-numeric", "--drop", "name,region", "--keep", "satisfied", "-m", "mdav"]
    result = run("protect", table, "-o", out, *words)
    assert result.exit_code == 0
    assert manifest_of(out)["plan"]["quasi_identifiers"] == ["age", "height", "hours", "income", "weight"]
    assert pl.read_csv(out).columns == ["age", "height", "hours", "income", "weight", "satisfied"]


def test_repeated_q_makes_separate_sets_and_spaces_do_not_matter(table, out):
    words = ["-k", 3, "-q", "age, income", "-q", "height", "--drop", "name", "-m", "mdav", "--json"]
    result = run("protect", table, "-o", out, *words)
    summary = json.loads(result.stdout)
    assert [part["columns"] for part in summary["sets"]] == [["age", "income"], ["height"]]
    assert "note: k = 3 holds for each of the 2 sets" in result.stderr


def test_options_and_aggregators_reach_the_method(table, out):
    words = ["protect", table, "-o", out, "-k", 3, "-q", "age,height", "--drop", "name", "--json"]
    result = run(*words, "-m", "univariate", "-O", "by=sum", "-a", "mode", "-a", "age=median")
    assert json.loads(result.stdout)["options"] == {"by": "sum"}
    assert manifest_of(out)["plan"]["aggregators"] == {"*": "mode", "age": "median"}
    direct = shoal.protect(
        table,
        3,
        ["age", "height"],
        identifiers="name",
        method="univariate",
        options={"by": "sum"},
        aggregators={"*": "mode", "age": "median"},
    )
    assert pl.read_csv(out).equals(direct.data)


def test_an_option_can_be_given_as_the_list_of_methods_shows_it(table, out):
    assert "outlier = off" in run("methods", "iv-mdav").stdout
    words = ["protect", table, "-o", out, "-k", 3, "-q", "age,height", "--drop", "name", "-m", "iv-mdav"]
    assert run(*words, "-O", "outlier=off").exit_code == 0


def test_a_plan_is_taken_from_a_file_and_options_take_precedence(table, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("k: 5\nquasi_identifiers: [age, height]\nidentifiers: [name]\nmethod: mdav\nseed: 3\n")
    result = run("protect", table, "-o", out, "--plan", plan, "-k", 4, "--json")
    summary = json.loads(result.stdout)
    assert (summary["k"], summary["seed"]) == (4, 3)
    assert summary["sets"][0]["columns"] == ["age", "height"]


def test_what_inspect_proposes_can_be_run_as_it_is(table, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    inspected = run("inspect", table, "-o", plan, "-k", 3)
    assert inspected.exit_code == 0
    assert "identifier" in inspected.stdout
    assert str(plan) in inspected.stderr.replace("\n", "")
    assert shoal.Plan.load(plan) == shoal.Plan(
        k=3,
        identifiers=["name"],
        quasi_identifiers=["age", "height", "hours", "income", "region", "satisfied"],
        weight="weight",
    )
    assert run("protect", table, "-o", out, "--plan", plan).exit_code == 0
    assert "name" not in pl.read_csv(out).columns


def test_inspect_proposes_a_plan_for_a_file_that_needs_to_be_told_how_to_read_it(out, tmp_path):
    table, plan = tmp_path / "in.csv", tmp_path / "plan.yaml"
    table.write_bytes("1;é;?\n1;é;?\n2;b;4\n6;b;6\n".encode("cp1252"))
    reading = ("--no-header", "--missing", "?", "--encoding", "cp1252", "--delimiter", ";")
    assert run("inspect", table, "-o", plan, "-k", 2, *reading).exit_code == 0
    result = run("protect", table, "-o", out, "--plan", plan)
    assert result.exit_code == 0, result.stderr
    assert out.read_bytes() == "1;é;?\n1;é;?\n4;b;5\n4;b;5\n".encode("cp1252")


def test_inspect_as_json_describes_columns(table):
    found = json.loads(run("inspect", table, "--json").stdout)
    assert found["records"] == 60
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["name"] == "identifier"
    assert roles["weight"] == "weight"
    assert {column["name"]: column["missing"] for column in found["columns"]}["age"] == 0


def test_a_guessed_encoding_is_noted(tmp_path, out):
    path = tmp_path / "in.csv"
    path.write_bytes("x,y\n1,é\n2,b\n6,c\n".encode("latin-1"))
    result = run("protect", path, "-o", out, "-k", 3, "-q", "x", "-m", "mdav", "--json")
    assert "note: 'in.csv' is not in UTF-8 and was read as cp1252" in result.stderr
    assert json.loads(result.stdout)["groups"] == 1


@pytest.mark.parametrize("name", shoal.METHODS)
def test_methods_shows_each_method_with_source_cost_and_options(name):
    method = shoal.METHODS[name]
    listed, page = run("methods").stdout, run("methods", name).stdout
    assert name in listed
    assert method.source in " ".join(page.split())
    assert method.cost in " ".join(page.split())
    assert all(f"{option.name} = " in page for option in method.options)


def test_methods_as_json():
    listed = json.loads(run("methods", "--json").stdout)["methods"]
    assert [method["name"] for method in listed] == list(shoal.METHODS)
    [one] = json.loads(run("methods", "v-mdav", "--json").stdout)["methods"]
    assert one["options"][0]["default"] == 0.2


def test_the_demo_shows_before_after_and_summary():
    result = run("demo")
    assert result.exit_code == 0
    assert result.stdout.index("before") < result.stdout.index("after") < result.stdout.index("information loss")


def test_version():
    assert run("--version").stdout == f"shoal {shoal.__version__}\n"


def test_without_a_command_help_is_shown():
    result = CliRunner().invoke(program, [])
    assert all(command in result.output for command in ("protect", "inspect", "methods", "demo"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_sentence_of_its_own_help(name):
    command = load_command(name)
    assert (command.name, command.help) == (name, COMMANDS[name])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("protec in.csv", "No such command 'protec'. Did you mean 'protect'?"),
        ("protec --help", "No such command 'protec'. Did you mean 'protect'?"),
        ("rules chek", "No such command 'chek'. Did you mean 'check'?"),
    ],
)
def test_a_misspelt_command_is_told_the_nearest_one(words, sentence):
    result = run(*words.split())
    assert result.exit_code == 2
    assert sentence in result.stderr


MISTAKES = {
    "a misspelt column": ("-k 3 -q aeg --drop name", "column 'aeg' is not in the table; did you mean 'age'?"),
    "an identifier without a role": ("-k 3 -q age", "look like direct identifiers and have no role: 'name'"),
    "no k": ("-q age --drop name", "k: is missing"),
    "k of 1": ("-k 1 -q age --drop name", "k: "),
    "a k above the number of records": ("-k 61 -q age --drop name", "fewer than k = 61"),
    "no columns": ("-k 3 --drop name", "quasi_identifiers: is missing"),
    "text": ("-k 3 -q region --drop name -m mdav", "column 'region' is text"),
    "an unknown method": ("-k 3 -q age --drop name -m mdva", "did you mean 'mdav'?"),
    "an unknown option": ("-k 3 -q age --drop name -m v-mdav -O gama=1", "did you mean 'gamma'?"),
    "an option without a value": ("-k 3 -q age --drop name -m v-mdav -O gamma", "-O gamma: write it as name=value"),
    "an unknown aggregator": ("-k 3 -q age --drop name -a medain", "did you mean 'median'?"),
    "a plan that is not there": ("-k 3 -q age --drop name --plan none.yaml", "cannot read the plan 'none.yaml'"),
    "a stratum that is too small": ("-k 25 -q age --drop name --strata region", "'region = west' (8 records)"),
    "merging without strata": ("-k 3 -q age --drop name --small-strata merge", "has no effect without strata"),
    "all numeric and named columns": ("-k 3 -q age --all-numeric --drop name", "not both"),
    "an unknown flag": ("-k 3 -q age --drop name --metod mdav", "No such option"),
    "a word for a number": ("-k three -q age --drop name", "Invalid value for '-k'"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_ends_with_status_2_a_sentence_and_no_output(table, out, what):
    words, sentence = MISTAKES[what]
    result = run("protect", table, "-o", out, *words.split(), "--json")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert [path.name for path in out.parent.iterdir()] == [table.name]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["protect", "none.csv", "-o", "out.csv", "-k", "3", "-q", "x"], "'none.csv' is not there"),
        (["inspect", "none.csv"], "'none.csv' is not there"),
        (["inspect", "none.docx"], "the ending '.docx' is none of"),
        (["methods", "mdaw"], "there is no method 'mdaw'; did you mean 'mdav'?"),
    ],
)
def test_other_mistakes_are_told_in_the_same_way(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""


def test_a_table_without_quasi_identifiers_can_be_inspected_but_has_no_plan(tmp_path):
    path, plan = tmp_path / "in.csv", tmp_path / "plan.yaml"
    path.write_text("word,name\na,x\na,y\na,z\n")
    assert "word" in run("inspect", path).stdout
    result = run("inspect", path, "-o", plan)
    assert result.exit_code == 2
    assert "no column to propose as a quasi-identifier" in result.stderr
    assert not plan.exists()


def test_a_broken_promise_ends_with_status_1_and_nothing_is_written(table, out, monkeypatch):
    def broken(*_):
        raise shoal.BrokenPromise("a record has no group")

    monkeypatch.setattr("shoal.release.promises.check_groups", broken)
    result = run("protect", table, "-o", out, "-k", 3, "-q", "age", "--drop", "name", "-m", "mdav")
    assert result.exit_code == 1
    assert "a record has no group" in result.stderr
    assert not out.exists()


def test_an_interruption_ends_with_status_130_and_nothing_is_written(table, out, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.aggregate.sets.run_tasks", interrupted)
    result = run("protect", table, "-o", out, "-k", 3, "-q", "age", "--drop", "name", "-m", "mdav")
    assert result.exit_code == 130
    assert "nothing was written" in result.stderr
    assert not out.exists()


@pytest.mark.parametrize("name", ["table.csv", "plan.txt"])
def test_inspect_writes_a_plan_into_nothing_but_yaml(tmp_path, table, name):
    target = tmp_path / name
    target.write_bytes(Path(table).read_bytes())
    result = run("inspect", target if name == "table.csv" else table, "-o", target)
    assert result.exit_code == 2
    assert "a plan is a YAML file" in result.stderr
    assert target.read_bytes() == Path(table).read_bytes()


@pytest.mark.parametrize("name", ["out.csv", "plan.yaml"])
def test_a_pipe_is_not_replaced_by_a_file(tmp_path, table, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    words = (
        ("inspect", table, "-o", pipe) if name == "plan.yaml" else ("protect", table, "-o", pipe, "-k", 3, "-q", "age")
    )
    result = run(*words, *(("--drop", "name") if name == "out.csv" else ()))
    assert result.exit_code == 2
    assert "is a device or pipe" in result.stderr
    assert pipe.is_fifo()


@pytest.mark.parametrize("odd", ["in\ncome", "b\nscaling: none #", "e\x1b[31m", "[red]", "a,b", "naïve 🐟"])
def test_odd_column_names_make_a_plan_that_can_be_read(tmp_path, odd):
    found = shoal.inspect(pl.DataFrame({"age": [1, 2, 3], odd: [4.5, 5.5, 7.0]}))
    assert shoal.Plan.from_yaml(found.to_yaml()) == found.plan()


def test_a_setting_given_twice_in_a_plan_is_an_error(tmp_path, table, out):
    plan = tmp_path / "plan.yaml"
    plan.write_text("k: 5\nk: 2\nquasi_identifiers: [age]\nidentifiers: [name]\n")
    result = run("protect", table, "-o", out, "--plan", plan)
    assert result.exit_code == 2
    assert "setting 'k' is given 2 times" in result.stderr


def test_a_mistake_is_told_once(table, out):
    result = run("protect", table, "-o", out, "-k", 3, "-q", "age", "--drop", "age,name")
    assert result.stderr.count("column 'age' has 2 roles") == 1


def test_a_link_is_followed_to_the_file_it_stands_for(tmp_path, table):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    assert (
        run("protect", table, "-o", link, "-k", 3, "-q", "age", "--drop", "name", "-m", "mdav", "--force").exit_code
        == 0
    )
    assert link.is_symlink()
    assert target.read_text() != "old"


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_roles_columns_and_methods_are_whole_on_a_line_of_80(tmp_path, narrow):
    table = tmp_path / "stays.csv"
    stays = shoal.example(60).drop("name").rename({"hours": "length_of_stay_1", "satisfied": "satisfaction"})
    stays.drop("income").write_csv(table)
    shown = run("inspect", table).stdout
    assert "quasi-identifier" in shown
    assert "length_of_stay_1" in shown
    assert "…" not in shown
    roles = ["-q", "age,length_of_stay_1,region", "--keep", "satisfaction", "--weight", "weight"]
    release = tmp_path / "out.csv"
    assert run("protect", table, "-o", release, "-k", 4, *roles, "-m", "sa-mdav").exit_code == 0
    shown = run("measure", table, release).stdout
    assert "length_of_stay_1" in shown
    assert "…" not in shown
    shown = run("sweep", table, "-k", "3,5", *roles, "-m", "sa-mondrian,mondrian-ordered").stdout
    assert "sa-mondrian" in shown
    assert "…" not in shown


def test_names_of_columns_that_are_too_long_for_a_line_are_folded_and_not_cut(tmp_path, narrow):
    name = "number_of_hours_" * 8
    table = tmp_path / "long.csv"
    shoal.example(60).select("age", pl.col("hours").alias(name)).write_csv(table)
    shown = run("inspect", table).stdout
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    first = "".join(line[1:].split("  ")[0].strip() for line in shown.splitlines())
    assert name in first


def test_the_options_of_a_method_are_indented_on_every_line(narrow):
    lines = run("methods", "sa-mdav").stdout.splitlines()
    about = lines[lines.index("  dissolve = false") + 1 :]
    assert len(about) > 1
    assert all(line.startswith(" " * 6) for line in about if line)
