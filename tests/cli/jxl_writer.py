"""Writes JPEG XL files of kinds that cjxl does not make, through libjxl itself."""
import ctypes
import ctypes.util
import struct

import numpy as np

CHANNELS = {"alpha": 0, "depth": 1, "spot": 2, "mask": 3, "black": 4, "thermal": 6, "optional": 16}


def library():
    name = ctypes.util.find_library("jxl")
    lib = ctypes.CDLL(name) if name else None
    if lib is not None:
        for function in ("JxlEncoderCreate", "JxlEncoderFrameSettingsCreate"):
            getattr(lib, function).restype = ctypes.c_void_p
    return lib


def jxl(gray, extra=(), layers=1, boxes=(), bits=8, compressed=False,
        orientation=1):
    """A lossless gray picture. `extra`: pairs of a kind of channel and its name; all of them hold
    the picture upside down. `boxes`: pairs of type and content, `compressed` by brotli ("brob")."""
    lib = library()
    encoder = ctypes.c_void_p(lib.JxlEncoderCreate(None))

    def call(function, *arguments):
        assert getattr(lib, function)(*arguments) == 0, function

    info = ctypes.create_string_buffer(1024)
    lib.JxlEncoderInitBasicInfo(info)
    height, width = gray.shape
    struct.pack_into("=5I", info, 0, 1, width, height, bits, 0)
    struct.pack_into("=I", info, 36, 1)  # uses_original_profile
    struct.pack_into("=I", info, 48, orientation)
    struct.pack_into("=2I", info, 52, 1, len(extra))
    has_alpha = any(kind == "alpha" for kind, _ in extra)
    struct.pack_into("=I", info, 60, bits if has_alpha else 0)
    call("JxlEncoderUseContainer", encoder, 1)
    if boxes:
        call("JxlEncoderUseBoxes", encoder)
    call("JxlEncoderSetBasicInfo", encoder, info)
    call("JxlEncoderSetCodestreamLevel", encoder, 10)
    for i, (kind, name) in enumerate(extra):
        channel = ctypes.create_string_buffer(256)
        lib.JxlEncoderInitExtraChannelInfo(CHANNELS[kind], channel)
        struct.pack_into("=I", channel, 4, bits)
        call("JxlEncoderSetExtraChannelInfo", encoder, ctypes.c_size_t(i), channel)
        call("JxlEncoderSetExtraChannelName", encoder, ctypes.c_size_t(i), name.encode(),
             ctypes.c_size_t(len(name)))
    colours = ctypes.create_string_buffer(256)
    lib.JxlColorEncodingSetToSRGB(colours, 1)
    call("JxlEncoderSetColorEncoding", encoder, colours)
    for kind, content in boxes:
        call("JxlEncoderAddBox", encoder, kind.encode(), content, ctypes.c_size_t(len(content)),
             int(compressed))
    settings = ctypes.c_void_p(lib.JxlEncoderFrameSettingsCreate(encoder, None))
    call("JxlEncoderSetFrameLossless", settings, 1)
    pixel_format = struct.pack("=IIIxxxxQ", 1, 2 if bits == 8 else 3, 0, 0)
    dtype = np.uint8 if bits == 8 else np.uint16
    data, upside_down = gray.astype(dtype).tobytes(), gray[::-1].astype(dtype).tobytes()
    for _ in range(layers):
        call("JxlEncoderAddImageFrame", settings, pixel_format, data, ctypes.c_size_t(len(data)))
        for i in range(len(extra)):
            call("JxlEncoderSetExtraChannelBuffer", settings, pixel_format, upside_down,
                 ctypes.c_size_t(len(data)), ctypes.c_uint32(i))
    lib.JxlEncoderCloseInput(encoder)
    out = ctypes.create_string_buffer(1 << 20)
    at, left = ctypes.c_void_p(ctypes.addressof(out)), ctypes.c_size_t(len(out))
    call("JxlEncoderProcessOutput", encoder, ctypes.byref(at), ctypes.byref(left))
    lib.JxlEncoderDestroy(encoder)
    return out.raw[:len(out) - left.value]
