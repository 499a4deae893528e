"""FITS files, card by card: for tests and campaigns."""
import numpy as np

BITS = {"uint8": 8, "int16": 16, "int32": 32, "int64": 64, "float32": -32, "float64": -64}


def card(name, value=None, text=None):
    if text is not None:
        return f"{name:<8}{text}".ljust(80)
    shown = "T" if value is True else f"'{value:<8}'" if isinstance(value, str) else str(value)
    return f"{name:<8}= {shown:>20}".ljust(80)


def hdu(values, extension=False, extra=()):
    """An image of [.., height, width], the last row first, as FITS has it."""
    values = np.asarray(values)[..., ::-1, :]
    kind = str(values.dtype)
    unsigned = {"uint16": ("int16", 1 << 15), "uint32": ("int32", 1 << 31)}.get(kind)
    cards = [card("XTENSION", "IMAGE") if extension else card("SIMPLE", True)]
    stored = values
    if unsigned:
        stored = (values.astype(np.int64) - unsigned[1]).astype(unsigned[0])
    cards.append(card("BITPIX", BITS[str(stored.dtype)]))
    cards.append(card("NAXIS", values.ndim))
    cards += [card(f"NAXIS{i + 1}", n) for i, n in enumerate(values.shape[::-1])]
    if extension:
        cards += [card("PCOUNT", 0), card("GCOUNT", 1)]
    if unsigned:
        cards += [card("BSCALE", 1), card("BZERO", unsigned[1])]
    head = "".join([*cards, *extra, "END".ljust(80)]).encode()
    data = stored.astype(stored.dtype.newbyteorder(">")).tobytes()
    return head.ljust(-(-len(head) // 2880) * 2880) + data.ljust(-(-len(data) // 2880) * 2880, b"\0")
