"""Hierarchies from WordNet: a small one in files of the same form, and WordNet 3.1 where it is."""

from __future__ import annotations

import pytest

from shoal.columns.hierarchy import distance_matrix, load_hierarchy
from shoal.errors import DataError, FileError
from small_wordnet import write_small_wordnet

nltk = pytest.importorskip("nltk", reason="the extra wordnet is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_wordnet(tmp_path_factory.mktemp("nltk_data"))


def looked_up(folder, values, **settings):
    return load_hierarchy({"wordnet": {"folder": str(folder), **settings}}, values)


def above(hierarchy, name):
    return [hierarchy.names[code] for code in hierarchy.ancestors(hierarchy.code_of(name))]


def test_words_lead_up_to_entity_and_values_keep_their_names(folder):
    made = looked_up(folder, ["Tech-support", "worker"], words={"Tech-support": "technician"})
    assert above(made, "Tech-support") == ["skilled_worker", "worker", "person", "physical_entity", "entity"]
    assert made.names[0] == "entity"
    assert made.depth[made.code_of("worker")] == 4


def test_a_value_above_another_gives_its_name_to_the_node(folder):
    made = looked_up(folder, [], words={"Tech-support": "technician", "Other-service": "worker"})
    assert "Other-service" in above(made, "Tech-support")
    assert "worker" not in made


def test_a_sense_is_given_by_its_number(folder):
    made = looked_up(folder, [], words={"first": "cleaner", "third": "cleaner#3"})
    assert above(made, "first") == ["physical_entity", "entity"]
    assert above(made, "third") == ["worker", "person", "physical_entity", "entity"]


def test_spaces_hyphens_and_capitals_do_not_matter(folder):
    made = looked_up(folder, ["Hong Kong", "Asian-Country", "CHINA"])
    assert above(made, "CHINA")[0] == "Asian-Country"
    assert above(made, "Hong Kong")[0] == "region"


def test_what_is_odd_can_be_put_elsewhere(folder):
    assert above(looked_up(folder, ["China", "Taiwan"]), "Taiwan")[0] == "island"
    moved = looked_up(folder, ["China", "Taiwan"], parents={"Taiwan": "asian_country"})
    assert above(moved, "Taiwan") == above(moved, "China")
    assert "island" not in moved


def test_all_hypernyms_are_kept_where_several_parents_are_asked_for(folder):
    settings = {"wordnet": {"folder": str(folder)}, "several_parents": "all"}
    both = load_hierarchy(settings, ["China", "Taiwan"])
    taiwan, china = both.code_of("Taiwan"), both.code_of("China")
    assert {"island", "asian_country"} <= {both.names[node] for node in both.closure([taiwan])}
    first = looked_up(folder, ["China", "Taiwan"])
    apart = distance_matrix(first)[first.code_of("Taiwan"), first.code_of("China")]
    assert distance_matrix(both)[taiwan, china] < apart
    assert load_hierarchy(settings, ["Taiwan", "China"]) == both


def test_a_word_above_the_values_can_be_put_elsewhere_too(folder):
    moved = looked_up(folder, ["technician"], parents={"worker": "region"})
    assert above(moved, "technician") == ["skilled_worker", "worker", "region", "physical_entity", "entity"]


def test_two_values_of_one_word_are_side_by_side_below_it(folder):
    made = looked_up(folder, [], words={"PRC": "china", "Mainland": "china"})
    assert above(made, "PRC") == above(made, "Mainland")
    assert above(made, "PRC")[0] == "china"


def test_two_nodes_never_share_a_name(folder):
    made = looked_up(folder, ["head", "executive"])
    assert above(made, "head") == ["physical_entity", "entity"]
    assert above(made, "executive")[:2] == ["head#2", "person"]


def test_all_that_is_not_found_is_told_at_once(folder):
    with pytest.raises(DataError) as caught:
        looked_up(
            folder,
            ["Tech-support", "worker"],
            words={"a": "cleaner#4", "b": "cleaner#x", "c": "xyzzy"},
            parents={"nowhere": "worker"},
        )
    assert caught.value.mistakes == [
        "'Tech-support' is not a noun of WordNet; give its word, such as {'Tech-support': 'worker'}",
        "'cleaner#4' of 'a': the noun has 3 senses in WordNet",
        "'cleaner#x' of 'b': write the sense of a word as a number, such as cleaner#3",
        "'xyzzy' of 'c' is not a noun of WordNet; give its word, such as {'c': 'worker'}",
        "'nowhere' is not a noun of WordNet; give its word, such as {'nowhere': 'worker'}",
    ]


def test_a_place_that_changes_nothing_is_an_error(folder):
    with pytest.raises(DataError, match=r"wordnet.parents: 'taiwan' is above none of the values"):
        looked_up(folder, ["worker"], parents={"taiwan": "asian_country"})


def test_a_place_below_itself_is_a_cycle(folder):
    with pytest.raises(DataError, match="cycle"):
        looked_up(folder, ["technician"], parents={"person": "technician"})


def test_nothing_to_look_up(folder):
    with pytest.raises(DataError, match="no values to look up"):
        looked_up(folder, [])


def test_the_version_is_looked_for(tmp_path):
    write_small_wordnet(tmp_path, "3.0", "wordnet")
    write_small_wordnet(tmp_path, "3.1", "wordnet31")
    for version in ("3.0", "3.1"):
        assert looked_up(tmp_path, ["worker"], version=version).names[-1] == "worker"
    only = write_small_wordnet(tmp_path / "only", "3.0")
    with pytest.raises(FileError, match=r"WordNet 3\.1 is not in .*; there is 3\.0"):
        looked_up(only, ["worker"], version="3.1")
    with pytest.raises(FileError, match="WordNet is not in"):
        looked_up(tmp_path / "nothing", ["worker"])
    assert str(tmp_path) not in nltk.data.path


@pytest.fixture(scope="module")
def real(reference_data):
    if not (reference_data / "nltk_data").is_dir():
        pytest.skip("WordNet 3.1 not found in the reference data")
    words = {
        "United-States": "united_states",
        "Hong": "hong_kong",
        "Outlying-US(Guam-USVI-etc)": "american_state",
        "Holand-Netherlands": "netherlands",
        "clean": "cleaner#3",
        "repair": "craftsman",
    }
    return load_hierarchy(
        {
            "wordnet": {
                "folder": str(reference_data / "nltk_data"),
                "version": "3.1",
                "words": words,
                "parents": {"Taiwan": "asian_country"},
            }
        },
        ["England", "Scotland", "Taiwan", "China", "worker", "technician"],
    )


def test_wordnet_has_what_the_paper_says_of_it(real):
    """Veltmann (2022): England and Scotland are no closer than England and the Netherlands, and Taiwan was moved."""
    assert real.names[0] == "entity"
    distances = distance_matrix(real)
    england, scotland, netherlands, china = real.codes_of(["England", "Scotland", "Holand-Netherlands", "China"])
    assert distances[england, scotland] == distances[england, netherlands]
    assert above(real, "Taiwan") == above(real, "China")
    assert above(real, "clean")[:3] == ["laborer", "workman", "employee"]
    # entity, physical_entity, object, location, region, district, administrative_district, country, European_country
    assert real.depth[england] == 10
    assert distances[england, china] == pytest.approx(1 - 2 * 8 / 20)
