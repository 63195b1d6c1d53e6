"""Hierarchies in OWL or RDF Schema: the classes of an RDF/XML file and what they are subclasses of.

Named classes only: what a class is by a restriction, a union or an intersection is no place in a tree. A class is
named by its label where it has one, in English or without a language first, and otherwise by the end of its address.
Classes that nothing is said to be above are under ``Thing``, unless there is one of them only.

The file is read with expat. External entities, and entities within entities, are refused, so that a file can neither
reach outside nor blow up; the short names for namespaces that ontology editors declare as entities are taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from shoal.columns.hierarchy.growing import Found
from shoal.errors import DataError

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns# "
_RDFS = "http://www.w3.org/2000/01/rdf-schema# "
_OWL = "http://www.w3.org/2002/07/owl# "
_XML = "http://www.w3.org/XML/1998/namespace "
_THING = "http://www.w3.org/2002/07/owl#Thing"
_CLASSES = frozenset({_OWL + "Class", _RDFS + "Class"})
_TYPES = frozenset(name.replace(" ", "") for name in _CLASSES)
_LONGEST_ENTITY = 256


def read_owl(data: bytes) -> Found:
    """Return the (child, parent) pairs among the classes of an RDF/XML file, its root where it is alone, and mistakes.

    >>> read_owl(b'''<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    ...   xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#">
    ...   <owl:Class rdf:about="#Cat"><rdfs:subClassOf rdf:resource="#Animal"/></owl:Class>
    ...   <owl:Class rdf:about="#Animal"/></rdf:RDF>''').pairs
    [('Cat', 'Animal')]
    """
    handler = _Classes()
    parser: Any = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = _refuse_entity
    parser.StartDoctypeDeclHandler = _refuse_outside
    try:
        parser.Parse(data, True)
    except DataError:
        raise
    except (ValueError, LookupError):
        raise DataError("the OWL file is in an encoding that is not known; write it in UTF-8") from None
    except expat.ExpatError as error:
        raise DataError(
            f"the OWL file is not valid XML in line {error.lineno}: {expat.ErrorString(error.code)}"
        ) from None
    if not handler.declared:
        raise DataError("the OWL file declares no class; it must be RDF/XML with owl:Class or rdfs:Class")
    return _pairs(handler)


def _refuse_entity(name: str, is_parameter: int, value: str | None, *outside: str | None) -> None:
    """Refuse what an expat parser tells of an entity: its base, system, public and notation come last."""
    _, system, *_ = outside
    if is_parameter or value is None or system or "&" in value or "%" in value or len(value) > _LONGEST_ENTITY:
        raise DataError(f"the OWL file declares the entity '{name}' from outside, of others or very long; write it out")


def _refuse_outside(_name: str, system: str | None, public: str | None, _internal: int) -> None:
    if system or public:
        raise DataError("the OWL file refers to another file as its document type; take that out")


@dataclass
class _Classes:
    """What the elements of the file say, while they are read.

    ``about`` has the class that each open element describes, or None; ``resource`` those that it names.
    """

    declared: dict[str, None] = field(default_factory=dict)
    above: list[tuple[str, str]] = field(default_factory=list)
    labels: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _open: list[tuple[str, str | None]] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _language: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        address = attributes.get(_RDF + "about") or attributes.get(_RDF + "resource")
        if _RDF + "ID" in attributes:
            address = "#" + attributes[_RDF + "ID"]
        outer = self._described(1)
        if tag in _CLASSES or tag == _RDF + "Description":
            subject = address
            if tag in _CLASSES and address:
                self.declared[address] = None
            if address and self._open and self._open[-1][0] == _RDFS + "subClassOf":
                self._place(self._described(2), address)
        else:
            subject = None
            if tag == _RDFS + "subClassOf" and address:
                self._place(outer, address)
            elif tag == _RDF + "type" and address in _TYPES and outer:
                self.declared[outer] = None
        self._open.append((tag, subject))
        self._text = []
        self._language = attributes.get(_XML + "lang", "")

    def end(self, tag: str) -> None:
        """Close an element."""
        self._open.pop()
        subject = self._described(1)
        text = "".join(self._text).strip()
        if tag == _RDFS + "label" and subject and text:
            rank = 0 if self._language.split("-")[0] == "en" else 1 if not self._language else 2
            self.labels.setdefault(subject, []).append((rank, text))
        self._text = []

    def characters(self, data: str) -> None:
        """Take a piece of text."""
        self._text.append(data)

    def _described(self, levels: int) -> str | None:
        return self._open[-levels][1] if len(self._open) >= levels else None

    def _place(self, child: str | None, parent: str) -> None:
        if child:
            self.above.append((child, parent))


def _pairs(found: _Classes) -> Found:
    """Give the classes their names, and those without anything above them a root."""
    mistakes: list[str] = []
    classes = dict.fromkeys((*found.declared, *(parent for _, parent in found.above)))
    names: dict[str, str] = {}
    taken: set[str] = set()
    for address in classes:
        labels = found.labels.get(address)
        name = min(labels, key=lambda label: label[0])[1] if labels else _end(address)
        if name in taken:
            mistakes.append(f"two classes are called '{name}'; give one of them another label")
        names[address] = name
        taken.add(name)
    placed = {child for child, _ in found.above}
    pairs = [(names[child], names[parent]) for child, parent in found.above if child in names]
    tops = [names[address] for address in classes if address not in placed and address != _THING]
    if len(tops) > 1 or (tops and _THING in classes):
        root = names.get(_THING, "Thing")
        if root in tops:
            mistakes.append("a class is called 'Thing', and so is the root; give it another label")
        pairs += [(name, root) for name in tops]
    return Found(pairs, tops[0] if len(names) == 1 and tops else None, mistakes)


def _end(address: str) -> str:
    """Return the part of an address after its last # or /."""
    return address.rstrip("#/").replace("#", "/").rsplit("/", 1)[-1]
