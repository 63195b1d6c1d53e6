"""Settings that are checked all at once, and whose mistakes are sentences that name the setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.errors import PlanError, did_you_mean


class _KindError(ValueError):
    """A value is of another kind than its setting."""


def _only(what: str, *kinds: type, but: type | None = None) -> BeforeValidator:
    """Refuse values of some kinds, which pydantic would turn into others: "5" is no number, and true is not 1."""

    def checked(value: object) -> object:
        if isinstance(value, kinds) and not (but and isinstance(value, but)):
            number = "true or false" if isinstance(value, bool) else "a number"
            given = "a text" if isinstance(value, _TEXTS) else number
            raise _KindError(f"must be {what}, and not {given}")
        return value

    return BeforeValidator(checked)


_TEXTS = (str, bytes)
Whole = Annotated[int, _only("a whole number", *_TEXTS, bool)]
Real = Annotated[float, _only("a number", *_TEXTS, bool), Field(allow_inf_nan=False)]
Flag = Annotated[bool, _only("true or false", *_TEXTS, int, float, but=bool)]


def named(value: object, setting: str) -> object:
    """Return a value, or refuse settings inside a setting whose names are not texts, which pydantic stumbles over."""
    if isinstance(value, Mapping) and not all(isinstance(name, str) for name in value):
        raise PlanError(f"{setting}: give its settings by their names")
    return value


class Settings(BaseModel):
    """Settings that are checked all at once and never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    section: ClassVar[str] = ""  # what precedes the names of settings in messages

    def __init__(self, /, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise PlanError(_sentences(error, type(self))) from None


_PLAIN_WORDS = {
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "literal_error": "must be {expected}",
    "string_type": "must be a text; put it in quotes",
    "tuple_type": "must be a list of column names",
    "dict_type": "must be a list of names with a value each",
    "bool_type": "must be true or false",
}


def _sentences(error: ValidationError, model: type[Settings]) -> list[str]:
    """Turn pydantic's report into sentences that name the setting."""
    mistakes: list[str] = []
    for problem in error.errors():
        cause = problem.get("ctx", {}).get("error")
        name = ".".join(str(part) for part in problem["loc"])
        place = model.section + name
        if isinstance(cause, PlanError):
            mistakes += cause.mistakes
        elif isinstance(cause, _KindError):
            mistakes.append(f"{place}: {cause}")
        elif problem["type"] == "extra_forbidden":
            mistakes.append(f"there is no setting '{place}'{did_you_mean(name, model.model_fields)}")
        elif problem["type"] == "missing":
            mistakes.append(f"{place}: is missing; say what it should be")
        else:
            told = _PLAIN_WORDS.get(problem["type"], problem["msg"].lower())
            mistakes.append(f"{place}: {told.format(**problem.get('ctx', {}))}")
    return mistakes
