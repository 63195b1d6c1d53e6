"""Whether a SAS transport file (.xpt) is whole.

It is made of records of 80 bytes. The last header is followed by the observations, one after the other, filled up with
blanks to a whole record; their length is the sum of the lengths in the descriptions of the variables. Version 8 says
how many there are; in version 5 a file that was cut off is told by what is left of the last one, and one that was cut
exactly between two is not told at all.
Source: SAS Institute, TS-140, "The Record Layout of a Data Set in SAS Transport (XPORT) Format".
"""

from __future__ import annotations

import struct
from pathlib import Path

from shoal.errors import FileError

_RECORD = 80
_NAMES, _OBSERVATIONS = b"HEADER RECORD*******NAM", b"HEADER RECORD*******OBS"
_MEMBER = b"HEADER RECORD*******MEMB"
_COUNT = slice(54, 58)  # number of variables, in the header of their descriptions
_STATED = slice(48, 63)  # number of observations, in their header in version 8
_WIDTH = slice(4, 6)  # length of a variable, in its description


def check_whole(path: Path, records: int | None = None) -> None:
    """Refuse a transport file that was cut off; ``records`` is how many observations it must have, where known."""
    data = path.read_bytes()
    cut = FileError(f"'{path}' is cut off: it does not end where a record does; get it again")
    if len(data) % _RECORD:
        raise cut
    names = _header(data, _NAMES, 0)
    start = _header(data, _OBSERVATIONS, names) + _RECORD
    if names < 0 or start < _RECORD:
        raise cut
    header = data[names : names + _RECORD]
    described = data[names + _RECORD : start - _RECORD]
    try:
        count = int(header[_COUNT])
    except ValueError:
        raise FileError(f"cannot read '{path}': its header is damaged") from None
    # 140 bytes a variable, 136 from VAX/VMS: the header of the member says which
    size = 136 if b"0136" in data[:names][-4 * _RECORD : -3 * _RECORD] else 140
    if len(described) < count * size:
        raise cut
    widths = (struct.unpack(">h", described[size * i :][_WIDTH])[0] for i in range(count))
    length = sum(widths)
    section = len(data) - start
    if _header(data, _MEMBER, start) >= 0:  # another data set follows
        return
    last = data[start - _RECORD : start]
    stated = last[_STATED].strip() if last.startswith(_OBSERVATIONS + b"V8") else b""
    if records is None and stated.isdigit():
        records = int(stated)
    if records is not None:
        if section != -(-records * length // _RECORD) * _RECORD:
            raise cut
        return
    left = section % length if length else 0
    if left >= _RECORD or data[len(data) - left :].strip(b" "):
        raise cut


def _header(data: bytes, mark: bytes, start: int) -> int:
    """Return where the record begins that starts with a mark; -1 where there is none."""
    place = data.find(mark, max(start, 0))
    while place >= 0 and place % _RECORD:
        place = data.find(mark, place + 1)
    return place
