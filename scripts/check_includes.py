#!/usr/bin/env python3
"""Checks that no folder of src/ includes what the table in docs/architecture.md does not allow it.

    check_includes.py [ROOT]         ROOT: the repository; by default the one this script is in
    check_includes.py --self-test    breaks the rules in a copy of its own and expects to see it

Also: no files of the engine include each other in a ring; only cli prints, so <iostream> and print calls belong there; spdlog is wrapped by one header of
core; and files and decisions that comments name are there. Exit 1 when a rule is broken.
"""
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
PRINTING = re.compile(r"\bstd::(cout|cerr|clog)\s*<<|\b(?:fmt|std)::print(?:ln)?\("
                      r"|(?<![\w:])f?printf\(")

# What the words of the table's second column allow, as prefixes of quoted includes.
PHRASES = {
    "core": ["core/"], "pipeline": ["pipeline/"], "io": ["io/"], "engine": ["engine/"], "cli": ["cli/"],
    "api": ["api/"],
    "backends/jit": ["backends/jit/"],
    "the ops catalogue": ["core/operator.hpp", "ops/catalogue.hpp"],
    "the catalogue": ["core/operator.hpp", "ops/catalogue.hpp"],
    "the backend registry": ["backends/registry.hpp"],
    "the registry": ["backends/registry.hpp"],
    "standard library": [], "spdlog in one header": ["<spdlog"], "its own SDK": ["<SDK"],
    "the picture libraries": ["<pictures"], "CLI11": ["<CLI11"],
}
# Libraries by the start of their headers' names. fmt and nlohmann-json may be used outside core.
LIBRARIES = {
    "OpenEXR/": "<pictures", "CLI/": "<CLI11", "spdlog/": "<spdlog", "fmt/": "<text",
    "nlohmann/": "<text", "CL/": "<SDK", "cuda": "<SDK", "nvrtc": "<SDK", "cufft": "<SDK",
    "jxl/": "<pictures", "avif/": "<pictures", "openjpeg": "<pictures", "gif_lib": "<pictures", "libheif/": "<pictures",
    "fitsio": "<pictures", "lcms2": "<pictures", "OpenColorIO/": "<pictures", "opencv2/": "<pictures", "libraw/": "<pictures",
    "png.h": "<pictures", "jpeglib.h": "<pictures", "jerror.h": "<pictures",
    "tiff": "<pictures", "webp/": "<pictures", "zlib.h": "<pictures", "blosc.h": "<pictures", "openslide.h": "<pictures", "zstd.h": "<pictures",
}


def read_table(path):
    """{folder: allowed prefixes} from the table headed `| folder | may include | ...`."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines)
                  if line.startswith("| folder | may include |")), None)
    if start is None:
        raise SystemExit(f"{path}: no table of includes")
    table = {}
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        folder, allowed = [cell.strip() for cell in line.split("|")[1:3]]
        prefixes = [f"{folder}/"] if folder != "backends/x" else []
        for phrase in re.split(r",\s*|\s+and\s+", allowed):
            if phrase not in PHRASES:
                raise SystemExit(f"{path}: '{phrase}' of the row '{folder}' means nothing to me")
            prefixes += PHRASES[phrase]
        table[folder] = prefixes
    return table


def read_rooms(path):
    """{folder of a room: folders beside it that it may include} from the tables `| room | ...`, of
    backends, the engine and io. Files of theirs that lie in no room may include them all."""
    rooms = {}
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("| room | may include |")]
    if not starts:
        raise SystemExit(f"{path}: no table of rooms")
    for start in starts:
        for line in lines[start + 2:]:
            if not line.startswith("|"):
                break
            names, allowed = [cell.strip() for cell in line.split("|")[1:3]]
            for name in names.split():
                room = name if name.startswith(("engine/", "io")) else "backends/" + name
                top = room.split("/")[0] if room.startswith("io") else os.path.dirname(room)
                rooms[room] = [top if beside == top else os.path.join(top, beside)
                               for beside in allowed.split() if beside != "-"]
    return rooms


def room_of(rooms, folder):
    """The folder's room, and the format whose folder it lies in, or None: io/formats/png is the
    room io/formats/NAME."""
    parts = folder.split("/")
    name = parts[2] if parts[:2] == ["io", "formats"] and len(parts) > 2 else None
    if name is not None:
        parts[2] = "NAME"
    return "/".join(parts), name


def crosses_rooms(rooms, relative, header):
    """Whether a file in a room includes one that its room may not."""
    room, name = room_of(rooms, os.path.dirname(relative))
    included, its_name = room_of(rooms, os.path.dirname(header))
    if room not in rooms or included.split("/")[0] != room.split("/")[0]:
        return False
    if name is not None and its_name is not None and name != its_name:
        return True
    return included not in [room, *rooms[room]]


def cycles(includes):
    """Files, a header and its source being one, that include each other: {file: those it includes}
    as sorted lists."""
    order, low, stack, found = {}, {}, [], []

    def visit(file):
        order[file] = low[file] = len(order)
        stack.append(file)
        for other in includes.get(file, ()):
            if other not in order:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], order[other])
        if low[file] == order[file]:
            begin = stack.index(file)
            if len(stack) - begin > 1:
                found.append(sorted(stack[begin:]))
            del stack[begin:]

    for file in sorted(includes):
        if file not in order:
            visit(file)
    return found


def allowed_for(table, relative):
    """Prefixes that src/<relative> may include."""
    parts = relative.split(os.sep)
    if parts[0] != "backends":
        return table.get(parts[0])
    if len(parts) == 2:  # the registry, which knows every backend
        return ["core/", "backends/", "<text"]
    return [*table["backends/x"], f"backends/{parts[1]}/"]


def name_of_library(header):
    return next((name for start, name in LIBRARIES.items() if header.startswith(start)), None)


def problems_of_file(table, rooms, relative, text):
    allowed = allowed_for(table, relative)
    if allowed is None:
        yield "is in a folder that the table does not have"
        return
    folder = relative.split(os.sep)[0]
    if folder != "core":
        allowed = [*allowed, "<text"]
    for kind, header in INCLUDE.findall(text):
        if kind == "<":
            library = name_of_library(header)
            if library is not None and library not in allowed:
                yield f"includes <{header}>"
        elif not any(header == a or (a.endswith("/") and header.startswith(a)) for a in allowed):
            yield f'includes "{header}"'
        elif crosses_rooms(rooms, relative.replace(os.sep, "/"), header):
            yield f'includes "{header}", of another room'
    code = re.sub(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", text)
    if folder != "cli" and PRINTING.search(code):
        yield f"prints: {PRINTING.search(code).group(0)}; only cli does"


def named_by_comments(text):
    """Files with a folder, and decisions by their number, that comments name."""
    for comment in re.findall(r"//([^\n]*)", text):
        yield from re.findall(r"(?<![\w./])[\w-]+(?:/[\w-]+)*/[\w-]+\.(?:[ch]pp|inc|clh?)\b", comment)
        yield from re.findall(r"\bdecisions/\d{4}", comment)


def files_of(root):
    """All files that comments may name, from the root on; decisions by their number."""
    found = set()
    for top in ("docs", "scripts", "src", "tests"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            within = os.path.relpath(folder, root).replace(os.sep, "/")
            for name in names:
                is_decision = within.endswith("decisions")
                found.add(f"{within}/{name[:4] if is_decision else name}")
    return found


def check(root):
    """All broken rules, as lines."""
    files = files_of(root)
    architecture = os.path.join(root, "docs", "architecture.md")
    table, rooms = read_table(architecture), read_rooms(architecture)
    source = os.path.join(root, "src")
    found, logging_headers, includes = [], [], {}
    for folder, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            if not name.endswith((".cpp", ".hpp", ".inc", ".cu", ".cuh", ".cl", ".clh")):
                continue
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, source)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found += [f"src/{relative} {problem}"
                      for problem in problems_of_file(table, rooms, relative, text)]
            found += [f"src/{relative} speaks of {wanted}, which is not there"
                      for wanted in named_by_comments(text)
                      if not any(f"/{file}".endswith("/" + wanted) for file in files)]
            if relative.startswith("engine"):
                file = os.path.splitext(relative)[0]
                includes.setdefault(file, set()).update(
                    os.path.splitext(header)[0] for kind, header in INCLUDE.findall(text)
                    if kind == '"' and os.path.splitext(header)[0] != file)
            if re.search(r"#\s*include\s*<spdlog/", text):
                logging_headers.append(relative)
    found += ["these include each other: " + ", ".join(cycle) for cycle in cycles(includes)]
    if len([name for name in logging_headers if name.endswith(".hpp")]) > 1:
        found.append("spdlog is in more than one header: " + ", ".join(logging_headers))
    return found


def self_test(root):
    """Each row: a file that breaks a rule, and what must be said; or nothing, for one that does
    not."""
    rows = [
        ("core/a.cpp", '#include "io/codec.hpp"', 'includes "io/codec.hpp"'),
        ("core/a.hpp", "#include <fmt/format.h>", "includes <fmt/format.h>"),
        ("ops/a.cpp", '#include "backends/cpu/device.hpp"', 'includes "backends/cpu/device.hpp"'),
        ("ops/point/a.cpp", '#include "pipeline/plan.hpp"', 'includes "pipeline/plan.hpp"'),
        ("pipeline/a.cpp", '#include "ops/images.hpp"', 'includes "ops/images.hpp"'),
        ("io/a.cpp", '#include "engine/batch/batch.hpp"', 'includes "engine/batch/batch.hpp"'),
        ("engine/a.cpp", "#include <OpenEXR/ImfIO.h>", "includes <OpenEXR/ImfIO.h>"),
        ("engine/a.cpp", '#include "cli/run.hpp"', 'includes "cli/run.hpp"'),
        ("engine/a.cpp", '#include "backends/cpu/device.hpp"', "backends/cpu/device.hpp"),
        ("engine/a.cpp", '#include "api/arrays.hpp"', 'includes "api/arrays.hpp"'),
        ("api/a.cpp", '#include "backends/registry.hpp"', "backends/registry.hpp"),
        ("api/a.cpp", '#include "engine/device/lanes.hpp"', None),
        ("cli/a.cpp", "#include <CL/cl.h>", "includes <CL/cl.h>"),
        ("backends/cpu/a.inc", '#include "io/codec.hpp"', 'includes "io/codec.hpp"'),
        ("backends/jit/measure/a.cl", '#include "backends/cpu/a.inc"', "backends/cpu/a.inc"),
        ("backends/cuda/a.cpp", '#include "backends/opencl/a.hpp"', "backends/opencl/a.hpp"),
        ("backends/cpu/point/a.cpp", '#include "backends/cpu/measure/a.hpp"', "of another room"),
        ("backends/cpu/tile/a.inc", '#include "backends/cpu/point/a.hpp"', "of another room"),
        ("backends/cpu/point/a.cpp", '#include "backends/cpu/device.hpp"', "of another room"),
        ("backends/cpu/point/a.cpp", '#include "backends/cpu/tile/a.hpp"', None),
        ("backends/cpu/a.cpp", '#include "backends/cpu/point/a.hpp"', None),
        ("backends/jit/geometry/a.cpp", '#include "backends/jit/block/a.hpp"', "of another room"),
        ("backends/jit/text/a.hpp", '#include "backends/jit/plan/a.hpp"', "of another room"),
        ("backends/jit/block/a.hpp", '#include "backends/jit/plan/a.hpp"', None),
        ("backends/jit/plan/a.hpp", '#include "backends/jit/generator.hpp"', "of another room"),
        ("backends/jit/kernels/a.clh", '#include "backends/jit/text/a.hpp"', "of another room"),
        ("backends/cuda/a.cpp", '#include "backends/jit/text/a.hpp"', "of another room"),
        ("backends/cuda/a.cpp", '#include "backends/jit/runtime/a.hpp"', None),
        ("io/bytes/a.hpp", '#include "io/picture/a.hpp"', "of another room"),
        ("io/metadata/a.cpp", '#include "io/formats/tiff/a.hpp"', "of another room"),
        ("io/formats/png/a.cpp", '#include "io/codec.hpp"', "of another room"),
        ("io/formats/png/a.cpp", '#include "io/formats/jpeg/a.hpp"', "of another room"),
        ("io/formats/png/a.cpp", '#include "io/formats/png/module/a.hpp"', "of another room"),
        ("io/formats/png/module/a.cpp", '#include "io/formats/a.hpp"', "of another room"),
        ("io/formats/png/module/a.cpp", '#include "io/formats/png/a.hpp"', None),
        ("io/formats/avif/a.cpp", '#include "io/formats/heif/a.hpp"', "of another room"),
        ("io/a.cpp", '#include "io/files/a.hpp"', "of another room"),
        ("io/files/a.cpp", '#include "io/codec.hpp"', None),
        ("engine/program/a.cpp", '#include "engine/device/a.hpp"', "of another room"),
        ("engine/batch/a.cpp", '#include "engine/run.hpp"', "of another room"),
        ("engine/batch/a.cpp", '#include "engine/device/a.hpp"', None),
        ("engine/device/a.cpp", '#include "backends/registry.hpp"', None),
        ("engine/a.cpp", '#include "engine/batch/a.hpp"', None),
        ("pipeline/a.cpp", 'void f() { std::cout << "x"; }', "only cli does"),
        ("engine/a.cpp", 'void f() { printf("x"); }', "only cli does"),
        ("new_folder/a.cpp", "", "the table does not have"),
        ("backends/cuda/a.cpp", "#include <cuda.h>\n#include \"backends/jit/a.hpp\"", None),
        ("backends/registry.cpp", '#include "backends/cuda/device.hpp"', None),
        ("cli/a.cpp", '#include <CLI/CLI.hpp>\nvoid f() { printf("x"); }', None),
        ("engine/a.cpp", '#include "backends/registry.hpp"\n// std::cout is for cli', None),
        ("core/a.cpp", "// see jit/gone.cpp", "speaks of jit/gone.cpp, which is not there"),
        ("core/a.cpp", "// see decisions/0999", "speaks of decisions/0999, which is not there"),
        ("core/a.cpp", "// core/a.cpp says how", None),
    ]
    failed = 0
    for relative, text, expected in rows:
        with tempfile.TemporaryDirectory() as copy:
            os.makedirs(os.path.join(copy, "docs"))
            os.symlink(os.path.join(root, "docs", "architecture.md"),
                       os.path.join(copy, "docs", "architecture.md"))
            path = os.path.join(copy, "src", relative)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            said = check(copy)
        right = not said if expected is None else len(said) == 1 and expected in said[0]
        if not right:
            failed += 1
            print(f"self-test: {relative} with {text!r}: expected {expected!r}, said {said}")
    print(f"self-test: {len(rows) - failed} of {len(rows)} rows as expected")
    return 1 if failed else 0


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:] == ["--self-test"]:
        return self_test(root)
    found = check(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else root)
    print("\n".join(found) if found else "check_includes: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
