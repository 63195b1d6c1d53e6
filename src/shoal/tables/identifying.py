"""Whether a column looks like a direct identifier, a weight or a contact: by its name and what its profile tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shoal.plan.roles import Kind


@dataclass(frozen=True)
class Profile:
    """What is known of a column without showing any of its values."""

    name: str
    kind: Kind
    type: str
    records: int
    missing: int
    distinct: int
    whole: bool = False
    """Numbers without fractions."""
    consecutive: bool = False
    """Whole numbers that number the records: distinct and without gaps."""
    contact_like: bool = False
    """Most of the values have the form of an e-mail address, telephone number or account number."""

    @property
    def constant(self) -> bool:
        """All observed values are equal."""
        return self.distinct <= 1


_IDENTIFIER_WORDS = frozenset(
    [
        "address",
        "adress",
        "adresse",
        "anschrift",
        "apellido",
        "bic",
        "birthname",
        "cif",
        "cpf",
        "dni",
        "driverslicense",
        "email",
        "emailaddress",
        "fax",
        "firstname",
        "forename",
        "fullname",
        "givenname",
        "iban",
        "identifier",
        "identnr",
        "imei",
        "ip",
        "ipaddress",
        "kontonummer",
        "kvnr",
        "lastname",
        "login",
        "mac",
        "mail",
        "maidenname",
        "matricule",
        "matrikelnummer",
        "mobile",
        "mobilephone",
        "mrn",
        "nachname",
        "name",
        "namen",
        "nhs",
        "nie",
        "nif",
        "nino",
        "nom",
        "nombre",
        "passport",
        "passportno",
        "personid",
        "personnummer",
        "phone",
        "phonenumber",
        "pid",
        "plate",
        "prenom",
        "prénom",
        "rowid",
        "rownumber",
        "rut",
        "siren",
        "siret",
        "sozialversicherungsnummer",
        "ssn",
        "steuernummer",
        "street",
        "streetaddress",
        "surname",
        "tel",
        "telefon",
        "telephone",
        "twitter",
        "url",
        "userid",
        "username",
        "uuid",
        "guid",
        "vat",
        "vatid",
        "vin",
        "vorname",
    ]
)


_NAME_WORDS = frozenset(
    [
        "address",
        "adress",
        "adresse",
        "anschrift",
        "apellido",
        "birthname",
        "firstname",
        "forename",
        "fullname",
        "givenname",
        "lastname",
        "maidenname",
        "nachname",
        "name",
        "namen",
        "nom",
        "nombre",
        "prenom",
        "prénom",
        "street",
        "streetaddress",
        "surname",
        "vorname",
    ]
)


_PERSON_WORDS = frozenset(
    [
        "account",
        "business",
        "client",
        "company",
        "customer",
        "employee",
        "enterprise",
        "firm",
        "household",
        "individual",
        "member",
        "owner",
        "participant",
        "patient",
        "person",
        "pupil",
        "respondent",
        "student",
        "subject",
        "user",
        "worker",
    ]
)


_ID_WORDS = frozenset({"id", "ids", "nr", "no", "num", "number", "key", "code", "ref"})


_NOT_IDS = frozenset(
    [
        "acid",
        "aid",
        "android",
        "arid",
        "avoid",
        "bid",
        "candid",
        "covid",
        "fluid",
        "grid",
        "hybrid",
        "humid",
        "kid",
        "lid",
        "liquid",
        "mid",
        "paid",
        "plaid",
        "prepaid",
        "raid",
        "rapid",
        "rid",
        "repaid",
        "said",
        "solid",
        "squid",
        "thyroid",
        "unpaid",
        "valid",
        "invalid",
        "vivid",
        "void",
    ]
)


_WEIGHT_WORDS = frozenset(
    [
        "weight",
        "weights",
        "weighting",
        "wgt",
        "wght",
        "wt",
        "wts",
        "fnlwgt",
        "afnlwgt",
        "gewicht",
        "gewichtung",
        "hochrechnungsfaktor",
        "poids",
        "peso",
        "ponderacion",
        "pondera",
        "factorel",
        "facexp",
        "pweight",
        "fweight",
        "sampweight",
        "hhweight",
        "hhwgt",
        "hhwt",
        "perwt",
        "pwgtp",
        "wgtp",
        "asecwt",
        "finalwt",
        "samplingweight",
        "surveyweight",
    ]
)


_CONTACT = re.compile(
    r"[^@\s]+@[^@\s]+\.[^@\s]+"  # e-mail
    r"|\+\d[\d\s()/.-]{6,}"  # telephone with country
    r"|[A-Z]{2}\d{2}[A-Z0-9 ]{11,30}"  # IBAN
    r"|\d{3}-\d{2}-\d{4}"  # US social security number
    r"|(?:\d{1,3}\.){3}\d{1,3}"  # IP address
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # UUID
)


def looks_like_contact(text: str) -> bool:
    """Whether a text has the form of an e-mail address, telephone, account, IP or other number of one person.

    >>> looks_like_contact("ada@example.org")
    True
    """
    return _CONTACT.fullmatch(text.strip()) is not None


def words_of(name: str) -> list[str]:
    """Split a column name into lower-case words at punctuation and camel case.

    >>> words_of("hhSize_2020")
    ['hh', 'size', '2020']
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.lower())


def looks_like_weight(name: str) -> bool:
    """Whether a column's name says that it is a sampling weight.

    >>> looks_like_weight("survey_weight"), looks_like_weight("income")
    (True, False)
    """
    return any(word in _WEIGHT_WORDS for word in words_of(name))


def is_name(name: str) -> bool:
    """Whether the name of a column says that it has names or addresses, which several people may share.

    >>> is_name("first_name"), is_name("patient_id")
    (True, False)
    """
    words = words_of(name)
    joined = "".join(words)
    return not is_key(name) and (any(word in _NAME_WORDS for word in (joined, *words)) or joined.endswith("name"))


def is_key(name: str) -> bool:
    """Whether the name of a column says that it has keys of persons or companies, which nobody else has.

    >>> is_key("patient_id"), is_key("Email"), is_key("surname"), is_key("region")
    (True, True, False, False)
    """
    words = words_of(name)
    joined = "".join(words)
    if any(word in _NAME_WORDS for word in words):
        return False
    known = _PERSON_WORDS | (_IDENTIFIER_WORDS - _NAME_WORDS)
    if any(word in known for word in (joined, *words)) or (words and words[-1] in ("id", "ids")):
        return True
    return joined.endswith("id") and not any(word in _NOT_IDS for word in words)


def why_identifier(profile: Profile) -> str | None:
    """Say why a column looks like a direct identifier; None if it does not.

    The name, the form of the values and how many of them are distinct are looked at. Measurements are not taken
    for identifiers because they happen to be distinct.
    """
    words = words_of(profile.name)
    joined = "".join(words)
    unique = profile.distinct > 0.95 * (profile.records - profile.missing) and profile.records - profile.missing >= 20
    if profile.contact_like:
        return "its values look like contact or account numbers"
    named = joined in _IDENTIFIER_WORDS or any(word in _IDENTIFIER_WORDS for word in words)
    textual = profile.kind in (Kind.NOMINAL, Kind.OTHER)
    if named and (textual or profile.whole or profile.distinct == 0):
        return "its name says so"
    if textual and joined.endswith("name"):
        return "its name says so"
    if textual and unique:
        return "nearly every record has a value of its own"
    if (textual or profile.whole) and words and words[-1] in _ID_WORDS and (unique or words[-1] in ("id", "ids")):
        return "its name says so"
    if (textual or profile.whole) and joined.endswith("id") and not any(word in _NOT_IDS for word in words):
        return "its name says so"
    if profile.consecutive and unique:
        return "it numbers the records"
    return None
