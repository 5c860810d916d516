"""Bodies without their compression, a bounded piece at a time: a few bytes may stand for gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import httpx

ACCEPTED = "gzip, deflate"
_PIECE = 64 << 10
_GZIP = zlib.MAX_WBITS | 16


def pieces(response: httpx.Response) -> Iterator[bytes]:
    """Of at most 64 KiB where the body is compressed. Raises httpx.DecodingError also for a coding that nobody asked for.

    httpx decodes whole reads at once, codings upon codings, and others than these where their libraries are installed.
    """
    if response.is_stream_consumed:  # a transport in memory has read and decoded it
        yield response.content
        return
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding in ("", "identity"):
        yield from response.iter_raw()
    elif coding in ("gzip", "x-gzip", "deflate"):
        yield from _inflated(response.iter_raw(), _GZIP if "gzip" in coding else zlib.MAX_WBITS)
    else:
        raise httpx.DecodingError(f"{coding[:80]!a} is none of the codings that were asked for ({ACCEPTED})")


def _inflated(raw: Iterator[bytes], bits: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(bits)
    begun = False
    try:
        for data in raw:
            if not begun and bits == zlib.MAX_WBITS and data:
                inflater = _with_header_or_without(data)
            begun = begun or bool(data)
            rest = data
            while rest and not inflater.eof:
                piece = inflater.decompress(rest, _PIECE)
                rest = inflater.unconsumed_tail
                if piece:
                    yield piece
            # Output may still wait inside although all input is taken: ask until nothing comes.
            while not inflater.eof and (piece := inflater.decompress(b"", _PIECE)):
                yield piece
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error


def _with_header_or_without(first: bytes) -> zlib._Decompress:
    """Servers send `deflate` both as RFC 1950 says and bare."""
    try:
        zlib.decompressobj().decompress(first, 1)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return zlib.decompressobj()
