"""A WordNet of a dozen words in the files that nltk reads, so that its tests need no download."""

from __future__ import annotations

from pathlib import Path

NOUNS = [  # words of a synset, what it is a kind (@) or an instance (@i) of by all its words; senses in this order
    ("entity", []),
    ("physical_entity", [("@", "entity")]),
    ("person soul", [("@", "physical_entity")]),
    ("worker", [("@", "person:soul")]),
    ("skilled_worker", [("@", "worker")]),
    ("technician", [("@", "skilled_worker")]),
    ("agent cleaner", [("@", "physical_entity")]),
    ("shop cleaner", [("@", "physical_entity")]),
    ("cleaner", [("@", "worker")]),
    ("head", [("@", "physical_entity")]),
    ("head chief", [("@", "person:soul")]),
    ("executive", [("@", "head:chief")]),
    ("region", [("@", "physical_entity")]),
    ("country", [("@", "region")]),
    ("asian_country", [("@", "country")]),
    ("china", [("@i", "asian_country")]),
    ("island", [("@", "region")]),
    ("taiwan", [("@i", "island"), ("@i", "asian_country")]),
    ("hong_kong", [("@i", "region")]),
]
_OTHERS = ("adj", "adv", "verb")


def write_small_wordnet(folder: Path, version: str = "3.0", name: str = "wordnet") -> Path:
    """Write the files below ``folder/corpora`` and return the folder."""
    corpus = folder / "corpora" / name
    corpus.mkdir(parents=True)
    notice = f"  1 WordNet {version} Copyright 2006 by nobody\n"
    ids = [":".join(words.split()) for words, _ in NOUNS]
    offsets = dict.fromkeys(ids, 0)
    for _ in range(2):  # offsets have a fixed width, so the second time they are right
        text = notice
        for (words, above), key in zip(NOUNS, ids, strict=True):
            offsets[key] = len(text)
            lemmas = words.split()
            names = " ".join(f"{lemma} 0" for lemma in lemmas)
            pointers = "".join(f" {mark} {offsets[to]:08d} n 0000" for mark, to in above)
            text += f"{offsets[key]:08d} 03 n {len(lemmas):02x} {names} {len(above):03d}{pointers} | a noun\n"
    (corpus / "data.noun").write_text(text)
    senses: dict[str, list[int]] = {}
    for (words, _), key in zip(NOUNS, ids, strict=True):
        for lemma in words.split():
            senses.setdefault(lemma, []).append(offsets[key])
    index = notice
    for lemma, places in sorted(senses.items()):
        index += f"{lemma} n {len(places)} 1 @ {len(places)} 0 {' '.join(f'{o:08d}' for o in places)}\n"
    (corpus / "index.noun").write_text(index)
    for part in _OTHERS:
        (corpus / f"data.{part}").write_text(notice)
        (corpus / f"index.{part}").write_text(notice)
    for part in (*_OTHERS, "noun"):
        (corpus / f"{part}.exc").write_text("")
    for rest in ("cntlist.rev", "index.sense"):
        (corpus / rest).write_text("")
    (corpus / "lexnames").write_text("".join(f"{i:02d}\tlex.{i}\t1\n" for i in range(45)))
    return folder
