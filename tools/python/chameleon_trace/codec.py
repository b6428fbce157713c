# SPDX-License-Identifier: BSD-3-Clause
"""Checksums and decompression: by the modules xxhash and zstandard where they are installed, else
by this package's own xxh3 and zstd, which take 10 to 100 times as long. Both give the same values.
Of a damaged frame that has a right checksum around it, zstandard may make wrong bytes where zstd
raises TraceError.
"""

from . import xxh3, zstd
from .errors import corrupt

try:
    import xxhash
except ImportError:
    xxhash = None
try:
    import zstandard
except ImportError:
    zstandard = None


def library_xxh3_64(data):
    """As xxh3.xxh3_64, by the module xxhash."""
    return xxhash.xxh3_64_intdigest(data)


def library_decompress(data, size):
    """As zstd.decompress, by the module zstandard. It does not look behind the frame, and makes as
    many bytes as the frame says: so the frame is looked at first."""
    zstd.check_frame(data, size)
    if size == 0:  # no limit, to zstandard
        return zstd.decompress(data, size)
    try:
        out = zstandard.ZstdDecompressor().decompress(bytes(data), max_output_size=size)
    except zstandard.ZstdError as error:
        raise corrupt("zstd: " + str(error).replace("\n", " ")) from None
    if len(out) != size:
        raise corrupt("zstd: the frame has another size")
    return out


# Before its version 2 xxhash has no XXH3.
xxh3_64 = library_xxh3_64 if hasattr(xxhash, "xxh3_64_intdigest") else xxh3.xxh3_64
decompress = library_decompress if zstandard is not None else zstd.decompress
