"""Files that are packed whole: gzip, which Python has, and Zstandard with the extra ``formats``."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

from shoal.errors import FileError, MissingExtra

PACKINGS = {".gz": "gzip", ".zst": "Zstandard"}
"""Endings behind that of the format, and what they are called."""


def unpacked(path: Path) -> bytes:
    """Return the content of a file, unpacked where its last ending says that it is packed."""
    data = path.read_bytes()
    packing = PACKINGS.get(path.suffix.lower())
    if packing is None:
        return data
    try:
        return gzip.decompress(data) if packing == "gzip" else _unpack_zstandard(data)
    except (OSError, EOFError, ValueError, zlib.error):
        raise FileError(f"'{path}' is not a {packing} file, or is cut off") from None


def packed(path: Path, data: bytes) -> bytes:
    """Return what is to be written to a file, packed where its last ending says so; always the same bytes."""
    packing = PACKINGS.get(path.suffix.lower())
    if packing is None:
        return data
    if packing == "gzip":
        return gzip.compress(data, mtime=0)
    content: bytes = _zstandard().ZstdCompressor(write_checksum=True, threads=0).compress(data)
    return content


def _unpack_zstandard(data: bytes) -> bytes:
    """Unpack all frames of a file: programs that pack on several threads write more than one."""
    zstandard = _zstandard()
    parts, rest = [], data
    try:
        while rest:
            frame = zstandard.ZstdDecompressor().decompressobj()
            parts.append(frame.decompress(rest))
            if not frame.eof:
                raise EOFError
            rest = frame.unused_data
    except zstandard.ZstdError:
        raise ValueError from None
    return b"".join(parts)


def _zstandard() -> Any:
    try:
        import zstandard  # an extra
    except ImportError:
        raise MissingExtra("reading and writing Zstandard files", "formats") from None
    return zstandard
