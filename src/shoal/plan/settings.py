"""Settings that are checked all at once, and whose mistakes are sentences that name the setting."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.errors import PlanError, did_you_mean


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
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "literal_error": "must be {expected}",
    "string_type": "must be a text",
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
        elif problem["type"] == "extra_forbidden":
            mistakes.append(f"there is no setting '{place}'{did_you_mean(name, model.model_fields)}")
        elif problem["type"] == "missing":
            mistakes.append(f"{place}: is missing; say what it should be")
        else:
            told = _PLAIN_WORDS.get(problem["type"], problem["msg"].lower())
            mistakes.append(f"{place}: {told.format(**problem.get('ctx', {}))}")
    return mistakes
