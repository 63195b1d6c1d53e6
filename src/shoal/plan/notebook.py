"""What a notebook shows of a result: small tables, without scripts, every text of them escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from shoal.errors import printable

_CELL = "text-align:left;padding:.2em 1em .2em 0;vertical-align:top"


def fragment(
    title: str, rows: Mapping[str, str], *, notes: Iterable[str] = (), told: str = "", tables: Sequence[str] = ()
) -> str:
    """Return a fragment of HTML: a table of names and texts, other tables, notes as a list and a last sentence.

    >>> "&lt;b&gt;" in fragment("Release", {"column": "<b>"})
    True
    """
    lines = "".join(
        f'<tr><th scope="row" style="{_CELL}">{_text(name)}</th><td style="{_CELL}">{_text(value)}</td></tr>'
        for name, value in rows.items()
    )
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    last = f"<p>{_text(told)}</p>" if told else ""
    return (
        f'<div><table><caption style="text-align:left"><strong>{_text(title)}</strong></caption><tbody>{lines}</tbody>'
        f"</table>{''.join(tables)}{f'<ul>{items}</ul>' if items else ''}{last}</div>"
    )


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a heading for each column.

    >>> grid(["k"], [["5"]]).count("<tr>")
    2
    """
    heading = "".join(f'<th scope="col" style="{_CELL}">{_text(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_text(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"


def _text(text: str) -> str:
    return escape(printable(text))
