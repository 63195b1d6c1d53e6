"""Every form in which a hierarchy comes, and every mistake that a file of each can have."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.columns.hierarchy import Hierarchy, grow, load_hierarchy, uncovered, write_rows
from shoal.columns.hierarchy.from_values import flat, intervals, ordered
from shoal.columns.hierarchy.nested import read_nested, write_nested
from shoal.columns.hierarchy.rows import read_rows
from shoal.errors import DataError, FileError, MissingExtra, PlanError
from shoal.plan.hierarchies import HierarchySettings
from slow_hierarchy import trees

PLACES = grow([("Spain", "Europe"), ("France", "Europe"), ("Europe", "*"), ("Japan", "Asia"), ("Asia", "*")])


def written(folder, text, name="places.csv", **settings):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_hierarchy({"file": path, **settings} if settings else path)


@pytest.mark.parametrize(
    "text",
    [
        "Spain;Europe;*\nFrance;Europe;*\nJapan;Asia;*\n",
        "Spain,Europe,*\r\nFrance,Europe,*\r\nJapan,Asia,*\r\n",
        "Spain\tEurope\t*\nFrance\tEurope\t*\nJapan\tAsia\t*",
        "leaf;group;all\nSpain;Europe;*\nFrance;Europe;*\nJapan;Asia;*\n",
        "Spain;Europe;*;*\nFrance;Europe;*\nJapan;Asia;*;;\n\n",
        "Spain;Spain;Europe;*\nFrance;Europe;Europe;*\nJapan;Asia;*;*\n",
        ' Spain ; Europe;*\n"France";Europe; *\nJapan;Asia;*\n',
        "\ufeffSpain;Europe;*\nFrance;Europe;*\nJapan;Asia;*\n",
        "Spain;Europe\nFrance;Europe\nEurope;*\nJapan;Asia\nAsia;*\n",
        "child,parent\nSpain,Europe\nFrance,Europe\nEurope,*\nJapan,Asia\nAsia,*\n",
    ],
    ids=["semicolon", "comma", "tab", "header", "padded", "repeated", "quoted", "marked", "pairs", "pairs-header"],
)
def test_a_csv_file_of_any_form_is_the_same_hierarchy(tmp_path, text):
    assert written(tmp_path, text) == PLACES


def test_rows_of_unequal_depth_and_inner_nodes_with_rows_of_their_own(tmp_path):
    read = written(tmp_path, "Spain;Iberia;Europe;*\nEurope;*\nMoon;*\n")
    assert read.names == ("*", "Europe", "Iberia", "Spain", "Moon")


def test_names_with_the_other_delimiter_inside_stay_whole(tmp_path):
    read = written(tmp_path, "Korea, South;Asia;*\nCongo, Republic;Africa;*\n")
    assert "Korea, South" in read
    assert written(tmp_path, '"Korea, South",Asia,*\n"Congo; Republic",Africa,*\n').names[2] == "Korea, South"


def test_a_hierarchy_of_one_node(tmp_path):
    assert written(tmp_path, "all\n").names == ("all",)
    assert written(tmp_path, "all:\n", "all.yaml").names == ("all",)
    assert written(tmp_path, "all", "all.yml").names == ("all",)
    assert written(tmp_path, "all;all\n;\n").names == ("all",)


def test_header_and_delimiter_and_encoding_can_be_said(tmp_path):
    read = written(tmp_path, "Europe;*\nSpain;Europe\n", header=True, delimiter=";")
    assert read.names == ("Europe", "Spain")
    assert "Curaçao" in written(tmp_path, "Curaçao;*\n".encode("cp1252"), encoding="cp1252")
    with pytest.raises(DataError, match=r"hierarchy 'places.csv': is not in UTF-8; give its encoding"):
        written(tmp_path, "Curaçao;*\n".encode("cp1252"))
    with pytest.raises(DataError, match="there is no encoding 'utf-9'"):
        written(tmp_path, "a;*\n", encoding="utf-9")


YAML = """
'*':
  Europe: [Spain, France]
  Asia:
  - Japan
"""


def test_nested_yaml(tmp_path):
    assert written(tmp_path, YAML, "places.yaml") == PLACES
    assert load_hierarchy({"tree": {"*": {"Europe": ["Spain", "France"], "Asia": {"Japan": None}}}}) == PLACES


def test_names_in_yaml_are_what_is_written(tmp_path):
    read = written(tmp_path, "all: [No, 1.50, 2024-01-01, 'null', ~]\n", "codes.yaml")
    assert read.names == ("all", "No", "1.50", "2024-01-01", "null")


OWL = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY owl "http://www.w3.org/2002/07/owl#" > ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="&owl;"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xml:base="http://example.org/places">
  <owl:Ontology rdf:about=""><rdfs:label>not a class</rdfs:label></owl:Ontology>
  <owl:Class rdf:ID="Europe"><rdfs:subClassOf><owl:Class rdf:about="#top"/></rdfs:subClassOf></owl:Class>
  <owl:Class rdf:about="#top"><rdfs:label xml:lang="de">alles</rdfs:label><rdfs:label xml:lang="en">*</rdfs:label>
  </owl:Class>
  <owl:Class rdf:about="http://example.org/places#ES">
    <rdfs:label>Spain</rdfs:label><rdfs:subClassOf rdf:resource="#Europe"/>
    <rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="#p"/>
      <owl:someValuesFrom rdf:resource="#Asia"/></owl:Restriction></rdfs:subClassOf>
  </owl:Class>
  <rdf:Description rdf:about="#France"><rdf:type rdf:resource="&owl;Class"/><rdfs:subClassOf rdf:resource="#Europe"/>
  </rdf:Description>
  <owl:Class rdf:about="#Asia"><rdfs:subClassOf rdf:resource="#top"/></owl:Class>
  <owl:Class rdf:about="#Japan"><rdfs:subClassOf rdf:resource="#Asia"/></owl:Class>
  <owl:ObjectProperty rdf:about="#p"/>
</rdf:RDF>"""


def tree_of(hierarchy):
    return {(n, hierarchy.names[p] if p >= 0 else None) for n, p in zip(hierarchy.names, hierarchy.parent, strict=True)}


def test_owl_classes(tmp_path):
    assert tree_of(written(tmp_path, OWL, "places.owl")) == tree_of(PLACES)


def test_owl_classes_without_anything_above_them_are_things(tmp_path):
    start = OWL[: OWL.index("<owl:Ontology")]
    two = start + '<owl:Class rdf:about="#A"/><owl:Class rdf:about="#B"/></rdf:RDF>'
    assert written(tmp_path, two, "two.owl").names == ("Thing", "A", "B")
    one = start + '<owl:Class rdf:about="#A"/></rdf:RDF>'
    assert written(tmp_path, one, "one.rdf").names == ("A",)
    said = start + '<owl:Class rdf:about="#A"><rdfs:subClassOf rdf:resource="&owl;Thing"/></owl:Class></rdf:RDF>'
    assert written(tmp_path, said, "said.owl").names == ("Thing", "A")


@pytest.mark.parametrize(
    ("entity", "told"),
    [
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "the entity 'a' from outside"),
        ('<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">', "the entity 'b' from outside, of others"),
        ('<!ENTITY % a "ha">', "the entity 'a'"),
        (f'<!ENTITY a "{"x" * 300}">', "very long"),
    ],
)
def test_owl_entities_that_reach_outside_or_blow_up_are_refused(tmp_path, entity, told):
    with pytest.raises(DataError, match=told):
        written(tmp_path, OWL.replace("<!ENTITY", entity + " <!ENTITY", 1), "places.owl")


def test_an_external_subset_is_refused(tmp_path):
    (tmp_path / "outside.dtd").write_text('<!ENTITY top "#top">')
    outside = OWL.replace("<!DOCTYPE rdf:RDF [", '<!DOCTYPE rdf:RDF SYSTEM "outside.dtd" [')
    with pytest.raises(DataError, match="refers to another file"):
        written(tmp_path, outside, "places.owl")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "", ["the hierarchy is empty: it needs at least one name"]),
        ("a.csv", "a;b;*\n;b;*\nc;;*\n", ["line 2: cell 1 is empty", "line 3: cell 2 is empty"]),
        ("a.csv", "a;b;*\nc;b;*\na;b;*\n", ["line 3: repeats line 1; give a name one row"]),
        (
            "a.csv",
            "a;b;*\na;c;*\n",
            ["the name in line 1, cell 1 has 2 parents, the name in line 1, cell 2 and the name in line 2, cell 2"],
        ),
        (
            "a.csv",
            "a;b;*\nc;b;all\nd;*\n",
            ["line 1, cell 2 has 2 parents, the name in line 1, cell 3 and", "2 names have nothing above them"],
        ),
        (
            "a.csv",
            "a;b\nb;c\nc;a\nd;*\ne;*\n",
            ["line 1, cell 1 -> the name in line 1, cell 2 -> the name in line 2, cell 2 -> the name in"],
        ),
        (
            "a.csv",
            "a;*\nb;*\nc;d\n",
            ["2 names have nothing above them, the name in line 1, cell 2 and the name in line 3, cell 2"],
        ),
        ("a.yaml", "a: [b, b]\n", ["line 1: a name has line 1 already; give it one place"]),
        (
            "a.yaml",
            "a:\n  b: [x]\n  c: [x]\n",
            ["the name in line 2 has 2 parents, the name in line 2 and the name in line 3"],
        ),
        ("a.yaml", "a: [x]\nb: [y]\n", ["the names in line 1 and line 2 are both at the top"]),
        ("a.yaml", "a: &x [b]\nc: *x\n", ["the hierarchy has a YAML alias (*name) in line 2"]),
        ("a.yaml", "a: [b\n", ["the hierarchy is not valid YAML in line 2"]),
        ("a.yaml", "a: ['']\n", ["line 1: a name is empty"]),
        ("a.yaml", "? [a, b]\n: c\n", ["line 1: a list stands where a name should"]),
        ("a.yaml", "[" * 5000 + "a" + "]" * 5000, ["more than 100 levels deep in line 1"]),
        ("a.owl", "<a>", ["the OWL file is not valid XML in line 1"]),
        ("a.owl", "<a/>", ["the OWL file declares no class"]),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_name(tmp_path, name, text, told):
    with pytest.raises(DataError) as caught:
        written(tmp_path, text, name)
    assert all(mistake.startswith(f"hierarchy '{name}': ") for mistake in caught.value.mistakes)
    for part in told:
        assert any(part in mistake for mistake in caught.value.mistakes), caught.value.mistakes


def test_a_name_with_several_parents_can_keep_its_first(tmp_path):
    text = "a;b;*\na;c;*\n"
    assert written(tmp_path, text, several_parents="first").names == ("*", "b", "a", "c")
    assert written(tmp_path, "'*': {b: [a], c: [a]}", "a.yaml", several_parents="first").names == ("*", "b", "a", "c")


def test_child_parent_pairs_have_two_cells(tmp_path):
    assert written(tmp_path, "a;b\nb;*\n", form="child-parent").names == ("*", "b", "a")
    with pytest.raises(DataError, match="line 1: has 3 cells, a child and its parent are 2"):
        written(tmp_path, "a;b;*\n", form="child-parent")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="cannot read the hierarchy"):
        load_hierarchy(tmp_path / "none.csv")


def test_all_values_that_are_not_covered_are_listed_with_the_nearest_names():
    assert load_hierarchy(PLACES, ["Spain", "Europe"]) is PLACES
    with pytest.raises(DataError) as caught:
        load_hierarchy(PLACES, ["Spian", "Spain", "Xanadu", "japan", "Spian"])
    assert str(caught.value) == (
        "3 values are not in the hierarchy: 'Spian', did you mean 'Spain'?; 'Xanadu'; 'japan', did you mean 'Japan'?"
    )
    many = [f"value {i}" for i in range(300)]
    assert uncovered(PLACES, many) == many
    with pytest.raises(DataError, match="'value 19' and 280 more"):
        load_hierarchy(PLACES, many)


@given(trees())
def test_what_is_written_is_read_back(tree):
    pairs, root = tree
    grown = grow(pairs, root=root)
    assert tree_of(grow(*_ok(read_rows(write_rows(grown), header=False)))) == tree_of(grown)
    assert grow(*_ok(read_nested(write_nested(grown)))) == grown


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1), unique=True))
def test_any_name_survives_yaml(names):
    names = [name for name in names if name.strip() and name != "*"]
    grown = flat(names)
    assert grow(*_ok(read_nested(write_nested(grown)))) == grown


def _ok(found):
    pairs, root, mistakes, _places = found
    assert mistakes == []
    return pairs, root


def test_flat_is_one_root_above_all():
    assert load_hierarchy({"flat": True}, [1, 2, 1]).names == ("*", "1", "2")
    with pytest.raises(DataError, match=r"'\*' is a value"):
        flat(["*"])
    with pytest.raises(DataError, match="made from the values of a column"):
        load_hierarchy({"flat": True})


@given(st.integers(1, 40))
def test_an_order_is_halved_and_keeps_its_places(size):
    values = [f"v{i}" for i in range(size)]
    made = ordered(values)
    assert [name for name, leaf in zip(made.names, made.leaves, strict=True) if leaf] == values
    assert made.height <= np.ceil(np.log2(size)) + 1
    for code in np.flatnonzero(~made.leaves):
        below = [made.names[c] for c in made.below(code) if made.leaves[c]]
        assert made.names[code] == f"{below[0]}..{below[-1]}"


def test_an_order_with_the_name_of_a_part_is_refused():
    with pytest.raises(DataError, match=r"'a\.\.b' is a value"):
        ordered(["a", "b", "a..b"])


@given(st.lists(st.integers(-1000, 1000), min_size=1, unique=True))
def test_intervals_hold_their_numbers(numbers):
    made = intervals([str(n) for n in numbers], [5, 10, 40])
    assert made.height == 5
    for number in numbers:
        for above in made.ancestors(made.code_of(str(number)))[:-1]:
            low, high = map(int, made.names[above][1:-1].split(", "))
            assert low <= number < high


def test_intervals_of_fractions_are_exact():
    assert intervals(["0.3", "0.1"], [0.1]).names == ("*", "[0.1, 0.2)", "0.1", "[0.3, 0.4)", "0.3")
    with pytest.raises(DataError, match="intervals are for numbers, and these values are none: 'x' and 'nan'"):
        intervals(["1", "x", "nan"], [5])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "a hierarchy needs a source"),
        ({"file": "a.csv", "order": ["a"]}, "a hierarchy comes from one source, not from file and order"),
        ({"flat": True, "header": False}, "header: has no effect without a file"),
        ({"file": "a.owl", "form": "owl", "delimiter": ","}, "delimiter: has no effect on the form 'owl'"),
        ({"flat": True, "several_parents": "first"}, "several_parents: has no effect without a file"),
        ({"order": ["a", "a"]}, "order: names a value more than once"),
        ({"intervals": [0]}, "intervals: widths must be above 0"),
        ({"intervals": [10, 15]}, "intervals: each width must be a multiple of the one before"),
        ({"fil": "a.csv"}, "there is no setting 'hierarchy.fil'; did you mean 'file'"),
        ({"wordnet": {"word": {}}}, "there is no setting 'wordnet.word'; did you mean 'words'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, told):
    with pytest.raises(PlanError, match=told):
        HierarchySettings(**settings)


def test_a_source_that_is_neither_path_nor_settings_is_refused():
    with pytest.raises(PlanError, match="the path of a file, settings by name"):
        load_hierarchy(3)


def test_wordnet_without_nltk_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.setitem(sys.modules, "nltk.data", None)
    with pytest.raises(MissingExtra, match=r"pip install 'shoal\[wordnet\]'"):
        load_hierarchy({"wordnet": True}, ["worker"])


def test_hierarchies_are_public():
    import shoal

    assert shoal.Hierarchy is Hierarchy
    assert shoal.load_hierarchy is load_hierarchy


def test_a_file_that_is_no_hierarchy_is_told_in_a_few_sentences(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"v{i % 40};{i}\n" for i in range(80)))
    with pytest.raises(DataError) as caught:
        load_hierarchy(path)
    assert len(caught.value.mistakes) <= 7
    assert "35 more names of 120 with several parents; where this is the wrong file" in str(caught.value)
