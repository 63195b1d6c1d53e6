"""Hierarchies from WordNet: the nouns that a noun is a kind or an instance of, up to ``entity``.

The first hypernym in WordNet's own order is taken, and the first it is an instance of where it is a kind of nothing, so
that a word has one parent; or all of them, where several are asked for. Values of the data keep their names and words
above them get theirs: a word of WordNet is written with the number of its sense, ``head#4``, only where two nodes would
have the same name.

Two values with one word are put below it, side by side. nltk's reader is the extra ``wordnet``; its own Wu-Palmer
similarity is not used, because it looks for another common ancestor than the one in the tree.

Source: Martinez, Sanchez and Valls (2012), Semantic adaptive microaggregation of categorical microdata, Computers &
Security 31.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from shoal.columns.hierarchy.growing import grow
from shoal.columns.hierarchy.tree import Hierarchy
from shoal.columns.hierarchy.words import read_words
from shoal.errors import DataError, FileError, MissingExtra
from shoal.plan.hierarchies import WordNetSettings

_ALONE = threading.Lock()
_CORPORA = ("wordnet", "wordnet31", "wordnet2021")


def from_wordnet(values: Iterable[str], settings: WordNetSettings | None = None, several: bool = False) -> Hierarchy:
    """Return the hierarchy of values, looked up in WordNet; all words that are not there are told at once.

    Parameters
    ----------
    values : iterable of str
        The values of the column; those of ``settings.words`` are added.
    settings : WordNetSettings, optional
        Words of values that are no words themselves, places to change, the version and its folder.
    several : bool
        Whether a word has all of its hypernyms, and not only the first.
    """
    settings = settings or WordNetSettings()
    words = read_words(Path(settings.words)) if isinstance(settings.words, str) else settings.words
    stripped = tuple(sorted({value.strip() for value in values}))  # not in the order of the rows
    return _made(stripped, tuple(words.items()), settings.model_dump_json(), several)


@lru_cache(maxsize=16)
def _made(values: tuple[str, ...], given: tuple[tuple[str, str], ...], asked: str, several: bool) -> Hierarchy:
    """Make the hierarchy; kept, because nltk takes seconds to open WordNet, and measures and reports ask again."""
    settings = WordNetSettings(**json.loads(asked))
    words = dict(given)
    named = dict.fromkeys((*values, *words))
    with _reader(settings) as reader:
        mistakes: list[str] = []
        synsets = {name: _find(reader, words.get(name, name), name, mistakes) for name in named}
        moved: dict[Any, Any] = {}
        for name, word in settings.parents.items():
            child = synsets[name] if name in synsets else _find(reader, name, name, mistakes)
            parent = synsets[word] if word in synsets else _find(reader, word, word, mistakes)
            if child is not None and parent is not None:
                moved[child] = parent
        if mistakes:
            raise DataError(mistakes)
        if not named:
            raise DataError("there are no values to look up in WordNet")
        above = _above(reader, synsets.values(), moved, several)
        if unused := [name for name, child in zip(settings.parents, moved, strict=False) if child not in above]:
            raise DataError([f"wordnet.parents: '{name}' is above none of the values" for name in unused])
        return _named(reader, synsets, above, several)


@contextmanager
def _reader(settings: WordNetSettings) -> Iterator[Any]:
    """Open WordNet, of the version that is asked for."""
    try:
        import nltk.data
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
    except ImportError:
        raise MissingExtra("a hierarchy from WordNet", "wordnet") from None
    # nltk reads only below the folders on its own path, which all threads share: one of them at a time changes it
    with _ALONE:
        before = list(nltk.data.path)
        if settings.folder:
            nltk.data.path[:] = [settings.folder]
        try:
            yield from _opened(settings, nltk.data.find, WordNetCorpusReader)
        finally:
            nltk.data.path[:] = before


def _opened(settings: WordNetSettings, find: Any, open_reader: Any) -> Iterator[Any]:
    """Open WordNet where ``find`` finds it."""
    found = []
    for corpus in _CORPORA:
        for place in (f"corpora/{corpus}", f"corpora/{corpus}.zip/{corpus}/"):
            try:
                root = find(place)
            except LookupError:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it has no other languages
                reader = open_reader(root, None)
            try:
                version = str(reader.get_version())
                if settings.version in (None, version):
                    yield reader
                    return
            finally:
                for stream in reader._data_file_map.values():  # the reader has no way to close its files
                    stream.close()
            found.append(version)
            break
    there = f"; there is {', '.join(found)}" if found else ""
    wanted = f"WordNet {settings.version}" if settings.version else "WordNet"
    where = f" in '{settings.folder}'" if settings.folder else ""
    raise FileError(
        f"{wanted} is not{where or ' where nltk looks'}{there}; name the folder of nltk's data as wordnet.folder, "
        "or fetch it with: python -m nltk.downloader wordnet31"
    )


def _find(reader: Any, word: str, name: str, mistakes: list[str]) -> Any:
    """Return the noun synset of ``word`` or ``word#3``; notes what is wrong and returns None where there is none."""
    lemma, _, sense = word.partition("#")
    lemma = lemma.strip().replace(" ", "_")
    of = "" if word == name else f" of '{name}'"
    if sense and not sense.isdigit():
        mistakes.append(f"'{word}'{of}: write the sense of a word as a number, such as cleaner#3")
        return None
    found = reader.synsets(lemma.lower(), "n") or reader.synsets(lemma.lower().replace("-", "_"), "n")
    if not found:
        mistakes.append(f"'{word}'{of} is not a noun of WordNet; give its word, such as {{'{name}': 'worker'}}")
        return None
    if not 1 <= int(sense or 1) <= len(found):
        mistakes.append(f"'{word}'{of}: the noun has {len(found)} senses in WordNet")
        return None
    return found[int(sense or 1) - 1]


def _hypernyms(reader: Any, lines: Any, synset: Any) -> list[Any]:
    """Return what a synset is a kind of, and then what it is an instance of, in WordNet's order.

    nltk keeps hypernyms as a set, whose order changes from run to run, so they are read from the synset's line:
    ``offset file n words (word id)... pointers (symbol offset part words)... | gloss``.
    """
    lines.seek(synset.offset())
    fields = lines.readline().partition("|")[0].split()
    pointers = fields[5 + 2 * int(fields[3], 16) :]
    to = list(zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False))
    return [
        reader.synset_from_pos_and_offset("n", int(offset))
        for symbol in ("@", "@i")
        for mark, offset, part in to
        if mark == symbol and part == "n"
    ]


def _above(reader: Any, synsets: Iterable[Any], moved: dict[Any, Any], several: bool) -> dict[Any, list[Any]]:
    """Return the parent of each synset and of all above it, or the parents; none for the root."""
    above: dict[Any, list[Any]] = {}
    with reader.open("data.noun") as lines:
        for synset in synsets:
            left = [synset]
            while left:
                at = left.pop()
                if at not in above:
                    found = [moved[at]] if at in moved else _hypernyms(reader, lines, at)
                    above[at] = found if several else found[:1]
                    left += reversed(above[at])
    return above


def _named(reader: Any, synsets: dict[str, Any], above: dict[Any, list[Any]], several: bool) -> Hierarchy:
    """Name the synsets, after a value where it is that of one value only, and make the tree."""
    values_of: dict[Any, list[str]] = {}
    for name, synset in synsets.items():
        values_of.setdefault(synset, []).append(name)
    names: dict[Any, str] = {}
    taken = set(synsets)
    words = [synset.lemma_names()[0] for synset in above]
    for synset, word in zip(above, words, strict=True):
        if len(values_of.get(synset, ())) == 1:
            names[synset] = values_of[synset][0]
        elif word in taken or words.count(word) > 1:
            names[synset] = f"{word}#{reader.synsets(word.lower(), 'n').index(synset) + 1}"
        else:
            names[synset] = word
    pairs = [(names[synset], names[parent]) for synset, parents in above.items() for parent in parents]
    pairs += [(name, names[synset]) for synset, several in values_of.items() if len(several) > 1 for name in several]
    root = next((names[synset] for synset, parents in above.items() if not parents), None)
    return grow(pairs, root=root, several=several)
