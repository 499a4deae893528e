"""Takes the kernels of all cards but one kind's out of a library: one_card.py LIBRARY ARCH

In each of CUDA's fat binaries that has kernels for ARCH (90: compute capability 9.0) the others
become zeros, which compress to nothing; nothing moves. Those that have none stay as they are.
"""
import struct
import sys

MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)  # then the size of all entries, 64 bits
MACHINE_CODE = 2


def entries(data, begin, end):
    """(kind, arch, place of the code, its size) of a fat binary's parts."""
    while begin < end:
        kind, _, head, size = struct.unpack_from("<HHIQ", data, begin)
        arch, = struct.unpack_from("<I", data, begin + 28)
        if head == 0:
            raise SystemExit("one_card.py: a fat binary that is not understood")
        yield kind, arch, begin + head, size
        begin += head + size


def main():
    path, wanted = sys.argv[1], int(sys.argv[2])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at = cleared = 0
    while (at := data.find(MAGIC, at)) >= 0:
        size, = struct.unpack_from("<Q", data, at + 8)
        parts = list(entries(data, at + 16, at + 16 + size))
        if any(kind == MACHINE_CODE and arch == wanted for kind, arch, _, _ in parts):
            for kind, arch, place, length in parts:
                if (kind, arch) != (MACHINE_CODE, wanted):
                    data[place:place + length] = bytes(length)
                    cleared += length
        at += 16 + size
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {cleared} bytes of other cards' kernels cleared")


if __name__ == "__main__":
    main()
