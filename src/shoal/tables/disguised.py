"""Numbers, dates and times in the guise of text or of Python objects, which would silently become categories.

``1,200``, ``1,20,000``, ``$4``, ``4 %``, ``4 kg``, ``50k``, ``(4)``, ``2024-01-01T10:00:00Z``, ``3 Jan 2024``,
``10:30``, and objects such as ``decimal.Decimal``. A column of text is looked at by its distinct values: where more
than half of them have such a form it was hardly meant as names, and whoever means it can say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import islice
from numbers import Number
from typing import Any

from shoal.errors import counted

_MOST = 10_000  # distinct values that are looked at
_CODES = (
    "EUR USD GBP CHF JPY CNY INR SEK NOK DKK ISK PLN CZK HUF RON BGN TRY CAD AUD NZD BRL MXN ZAR RUB UAH KRW SGD HKD"
)
_UNITS = "kg mg lbs lb km cm mm ml °C °F °"
_SIGNS = ("%", "‰", "US$", "R$", "Kč", "kr", "zł", "Fr.", *_CODES.split(), *_UNITS.split())
_SIGN = "|".join([*map(re.escape, sorted(_SIGNS, key=len, reverse=True)), "[$¢£¤¥₠-₿]"])
_SPACES = " \u00a0\u202f\u2009"
_THOUSANDS = "[kKM]|mn|bn"  # as units behind a number
_LAKHS = ",,"  # commas between hundreds, as in 1,20,000
_NUMERAL = re.compile(
    rf"(?P<open>\()?\s*(?P<minus>[+\-\u2212]?)\s*(?P<before>{_SIGN})?\s*[+-]?"
    rf"(?P<body>\d(?:[\d.,'\u2019{_SPACES}]*\d)?)"
    rf"\s*(?P<behind>{_SIGN}|{_THOUSANDS})?(?P<trailing>-)?\s*(?P<close>\))?"
)
_BODIES = (  # form of the digits, mark of thousands, mark of decimals
    (re.compile(r"\d+(\.\d+)?"), "", "."),
    (re.compile(r"[1-9]\d{0,2},\d{3}"), ",", "?"),  # or a decimal comma
    (re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?"), ",", "."),
    (re.compile(r"\d{1,2}(,\d\d)+,\d{3}(\.\d+)?"), _LAKHS, "."),
    (re.compile(r"\d{1,3}(\.\d{3})+(,\d+)?"), ".", ","),
    (re.compile(rf"\d{{1,3}}([{_SPACES}]\d{{3}})+([.,]\d+)?"), " ", "."),
    (re.compile(r"\d{1,3}(['\u2019]\d{3})+([.,]\d+)?"), "'", "."),
    (re.compile(r"\d+,\d+"), "", ","),
)
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_WORD = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
)
_WORD += "|nov(?:ember)?|dec(?:ember)?)"
_DATE = re.compile(  # not 1.2.3 of a version or 10.0.0.7 of a machine
    rf"\s*(?:(?:\d{{4}}([./-]){_MONTH}\1{_DAY}|\d\d([/-]){_MONTH}\2{_DAY}"
    rf"|(?:{_DAY}([./-]){_MONTH}|{_MONTH}([./-]){_DAY})(?:\3|\4)(?:\d{{4}}|\d\d))(?!\d|[./-]\d)"
    rf"|{_DAY}[ ./-]*{_WORD}[ ,./-]*(?:\d{{4}}|\d\d)(?!\d)|{_WORD}\.? *{_DAY},? *\d{{4}}(?!\d))",
    re.IGNORECASE,
)
_ISO = re.compile(r"\s*\d{4}([/-])\d{1,2}\1\d{1,2}(?!\d)")
_LEAP = re.compile(r":\d\d:60(\.\d*)?\s*(Z|[+-]\d\d(:?\d\d)?)?\s*$", re.IGNORECASE)
_TIME = re.compile(r"\s*\d{1,2}:\d\d(:\d\d(\.\d+)?)?\s*([ap]\.?m\.?)?\s*$", re.IGNORECASE)
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})?")
_NAMES = "or name it as nominal, if its values are names"


@dataclass(frozen=True)
class Disguise:
    """What a column of text, or of objects, holds instead of names.

    Attributes
    ----------
    what : str
        What it holds, for a message.
    advice : str
        What to do about it.
    reading : dict
        Settings of ``reading`` with which the column of a text file becomes numbers; empty where there are none.
    """

    what: str
    advice: str
    reading: dict[str, Any]

    def told(self, name: str) -> str:
        """Return the sentence about a column."""
        return f"column '{name}' holds {self.what}; {self.advice}; {_NAMES}"


_POINTS = Disguise(
    "numbers as text, with points that may separate thousands or decimals",
    "in a text file, say how they are written (thousands or decimal in `reading`, or --thousands '.' or --decimal '.' "
    "on the command line); or convert it to a numeric type",
    {},
)


@dataclass(frozen=True)
class Numeral:
    """How a number is written: its marks of thousands and decimals, its sign or unit, and whether its minus is odd."""

    thousands: str
    decimal: str
    sign: str
    odd_minus: bool

    @property
    def plain(self) -> bool:
        """Whether nothing is unusual about it."""
        return self == Numeral("", ".", "", False)


def is_number(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def numeral(text: str) -> Numeral | None:
    """Say how a text writes a number; None where it is none.

    >>> numeral("$1,200.50"), numeral("Reus")
    (Numeral(thousands=',', decimal='.', sign='$', odd_minus=False), None)
    """
    if is_number(text):
        return Numeral("", ".", "", False)
    found = _NUMERAL.fullmatch(text.strip())
    if not found or bool(found["open"]) != bool(found["close"]) or (found["before"] and found["behind"]):
        return None
    odd = bool(found["open"] or found["trailing"]) or found["minus"] == "\u2212"
    for form, thousands, decimal in _BODIES:
        if form.fullmatch(found["body"]):
            late = thousands in (" ", "'") and "," in found["body"]
            return Numeral(thousands, "," if late else decimal, found["before"] or found["behind"] or "", odd)
    return None


def disguise(labels: Iterable[object]) -> Disguise | None:
    """Say what the distinct values of a column hold instead of names; None where they are names, or plain numbers.

    >>> disguise(["1,200", "950", "12,000"]).reading
    {'thousands': ','}
    """
    seen = list(islice(labels, _MOST))
    texts = [label for label in seen if isinstance(label, str)]
    if 2 * len(texts) <= len(seen):
        return _objects([label for label in seen if not isinstance(label, str)], len(seen))
    dates = sum(_DATE.match(text) is not None for text in texts)
    if 2 * dates > len(seen):
        return _dates(texts)
    if 2 * sum(_TIME.match(text) is not None for text in texts) > len(seen):
        return Disguise("times of day as text", "write them as minutes or seconds, or as times with a date", {})
    found = [one for one in map(numeral, texts) if one is not None]
    if 2 * len(found) <= len(seen):
        return None
    if all(one.plain for one in found):
        return (
            _POINTS
            if len(found) == len(seen) and all(map(_POINTED.fullmatch, texts)) and any("." in text for text in texts)
            else None
        )
    return _numerals(found, len(texts) - len(found))


def _objects(others: Sequence[object], of: int) -> Disguise | None:
    """Say what values hold that are no texts but objects of Python."""
    kinds = Counter(
        "dates or times"
        if isinstance(value, date | time | timedelta)
        else "numbers"
        if isinstance(value, Number) and not isinstance(value, bool)
        else ""
        for value in others
    )
    kind = max(kinds, key=lambda one: kinds[one], default="")
    if not kind or 2 * kinds[kind] <= of:
        return None
    type_of = Counter(type(value).__name__ for value in others).most_common(1)[0][0]
    types = "a type of dates (pandas.to_datetime)" if kind.startswith("dates") else "a numeric type (astype(float))"
    return Disguise(f"{kind} as Python objects ({type_of})", f"convert it to {types}", {})


def _dates(texts: Sequence[str]) -> Disguise:
    """Say what is in the way of reading dates or times."""
    leap = sum(_LEAP.search(text) is not None for text in texts)
    if leap:
        return Disguise("times with leap seconds (:60), which no type of time holds", "write :59 for them", {})
    if all(_ISO.match(text) for text in texts if _DATE.match(text)):
        return Disguise("dates or times as text", "convert it to a type of dates or times", {})
    return Disguise(
        "dates as text",
        "write them as 2020-12-31, so that days are not taken for months, or convert it to a type of dates",
        {},
    )


def _numerals(found: Sequence[Numeral], others: int) -> Disguise:
    """Say how the numbers of a column are written, and what to say about it; ``others`` of its texts are no numbers."""
    thousands = {one.thousands for one in found if one.decimal != "?"} - {""}
    decimals = {one.decimal for one in found if one.decimal == "," or (one.decimal == "." and one.thousands == ",")}
    doubtful = any(one.decimal == "?" for one in found) and not thousands and not decimals
    if any(one.decimal == "?" for one in found) and "," not in decimals:
        thousands |= {","}
    signs = list(dict.fromkeys(one.sign for one in found if one.sign))
    reading: dict[str, Any] = {}
    what = []
    if doubtful:
        what.append("commas that may separate thousands or decimals")
    elif thousands:
        what.append("separators between thousands")
    elif decimals == {","}:
        what.append("decimal commas")
    lakhs = _LAKHS in thousands
    if len(thousands) == 1 and not lakhs:
        reading["thousands"] = next(iter(thousands))
    if decimals == {","}:
        reading["decimal"] = ","
    if signs:
        what.append("signs of currencies, per cent or other units")
        reading["signs"] = signs
    odd = any(one.odd_minus for one in found)
    if odd:
        what.append("negative numbers in parentheses or with an odd minus sign")
    advice = []
    if others:
        what.append(f"{counted(others, 'other text')} among them")
        advice.append("if those mark missing values, say so (missing in `reading`, or --missing)")
    if lakhs:
        reading = {}
        advice.append("write them without separators")
    elif reading and len(signs) < 2 and len(thousands) < 2:
        options = [
            f"--{name} '{','.join(value) if isinstance(value, list) else value}'" for name, value in reading.items()
        ]
        if doubtful:
            options = ["--thousands ','", "--decimal ','"]
        said = (" or " if doubtful else " and ").join(options)
        names = " or ".join(["thousands", "decimal"]) if doubtful else " and ".join(reading)
        advice.append(f"in a text file, say how they are written ({names} in `reading`, or {said} on the command line)")
    elif len(signs) > 1:
        advice.append("bring them to one unit")
    if odd:
        advice.append("write negative numbers as -4")
    advice.append("or convert it to a numeric type" if advice else "convert it to a numeric type")
    return Disguise(f"numbers as text, with {' and '.join(what)}", "; ".join(advice), {} if odd else reading)
