#!/usr/bin/env bash
# Makes a wheel for Python 3.11 and later: the package `impipe` with libimpipe, the program, its codec
# modules and the libraries that these need. Nothing in it is under the GPL: HEIF, whose library
# brings x265, is left out, and libjbig is replaced.
#
#   scripts/wheel.sh [--build DIR] [--output DIR] [--check]
#
# --build   a build folder to take the files from; by default one is made in build/release
# --output  where the wheel goes; by default the build folder
# --check   installs the wheel in an empty folder and uses it with an empty environment
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/staging.sh

build='' output='' check=''
while [ $# -gt 0 ]; do
  case $1 in
    --build | --output)
      [ $# -gt 1 ] || { echo "wheel.sh: $1 takes a folder" >&2; exit 2; }
      declare "${1#--}=$2"
      shift
      ;;
    --check) check=1 ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "wheel.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

setup_install patchelf
if [ -z "$build" ]; then
  setup_main build
  setup_build release
  build=build/release
fi
[ -x "$build/src/cli/impipe" ] || { echo "wheel.sh: there is no impipe in $build" >&2; exit 2; }
version=$("$build/src/cli/impipe" --version | awk '{print $2; exit}')
output=${output:-$build}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/wheel/impipe
mkdir -p "$root"
cp python/impipe/*.py python/impipe/py.typed "$root"

# cfitsio brings libcurl, OpenCV GDAL, gdcm OpenSSL, and OpenSlide Cairo and X11; libheif brings x265.
left_out=(fits opencv dicom openslide heif)
programs=("$build/src/cli/impipe")
stage_tree "$root" "$build" "$stage/all"
# libexpat is on every system, and Debian's asks for a newer C library than all others.
grep -v '/libjbig.so\|/libexpat.so' "$stage/all" >"$stage/needed" || true
rm -f "$root"/lib/impipe/libraries/libexpat.so.*
${CC:-cc} -O2 -shared -fPIC -Wl,-soname,libjbig.so.0 packaging/wheel/no_jbig.c \
  -o "$root/lib/impipe/libraries/libjbig.so.0"
stage_paths "$root"
# What libimpipe needs the program needs, too.
install -s "$build/src/api/libimpipe.so" "$root/lib/libimpipe.so.0"
patchelf --set-rpath '$ORIGIN/impipe/libraries' "$root/lib/libimpipe.so.0"
stage_notices "$stage/needed" >"$root/THIRD-PARTY-NOTICES"
cp LICENSE "$root"

# The newest version of the C library that a file asks for.
glibc=$(find "$root" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec objdump -T {} + |
  grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -1)
tag=py3-none-manylinux_${glibc/GLIBC_2./2_}_x86_64
mkdir -p "$output"
rm -f "$output"/impipe-*.whl
wheel=$(python3 packaging/wheel/pack.py "$stage/wheel" "$tag" "$version" README.md \
  "$(cd "$output" && pwd)")
echo "$wheel: $(($(stat -c %s "$wheel") / 1000000)) MB, $(wc -l <"$stage/needed") libraries"

[ -n "$check" ] || exit 0
# Licences: a library is from a package that is known to be free of the GPL, or that has an exception
# for its users (libgomp), or another licence to choose (libzstd, liblzma, libraw, lcms2, libpng).
known=' libabsl20220623 libaom3 libavif15 libblosc1 libbrotli1 libdav1d6 libdeflate0 libfmt9 libgav1-1 libgif7
 libgomp1 libhwy1 libimath-3-1-29 libjpeg62-turbo libjxl0.7 liblcms2-2 liblerc4 liblz4-1 liblzma5
 libopencolorio2.1 libopenexr-3-1-30 libopenjp2-7 libpng16-16 libpystring0 libraw20 librav1e0 libsnappy1v5 libsvtav1enc1 libtiff6 libwebp7 libwebpdemux2 libyaml-cpp0.7
 libyuv0 libzstd1 zlib1g '
stage_packages "$stage/needed" | while read -r package; do
  [[ $known =~ [[:space:]]$package[[:space:]] ]] ||
    { echo "wheel.sh: the licence of $package has to be looked at first" >&2; exit 1; }
done
there=$stage/there
python=$(setup_python)
"$python" -m pip install --quiet --no-index --no-deps --no-compile --target "$there" "$wheel"
for picture in tests/data/io/{rgb.jpg,gray8.png,gray16.tif,rgb8.webp,rgb.exr}; do
  made=$(env -i PYTHONPATH="$there" "$there/bin/impipe" 'imgaussfilt 1' "$picture" --hash)
  [ "$made" = "$("$build/src/cli/impipe" 'imgaussfilt 1' "$picture" --hash)" ] ||
    { echo "wheel.sh: $picture comes out different" >&2; exit 1; }
done
env -i PYTHONPATH="$there" "$python" -Bc "
import impipe, numpy
assert impipe.__file__.startswith('$there/'), impipe.__file__
pixels = numpy.arange(12, dtype=numpy.uint8).reshape(3, 4)
assert (impipe.run('imcomplement', pixels) == 255 - pixels).all()
assert impipe.files('mean2', 'tests/data/io/gray8.png').startswith('file')
with open('/proc/self/maps') as maps:
    ours = {line.split()[-1] for line in maps if 'impipe' in line and '.so' in line}
assert all(path.startswith('$there/') for path in ours), ours
"
if find "$there/impipe" -name '*.so*' -exec env -i ldd {} + | grep 'not found' >&2; then exit 1; fi
echo "wheel.sh: installed, and used with an empty environment"
