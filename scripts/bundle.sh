#!/usr/bin/env bash
# Makes impipe-VERSION-linux-x86_64.tar.xz: the program, its codec modules and the libraries these
# need, to be unpacked and run anywhere on a Linux with glibc 2.36 or later. Its folder farm has what
# docs/farm.md tells of: scripts and recipes for farms and containers.
#
#   scripts/bundle.sh [--build DIR] [--output DIR] [--tests] [--check]
#
# --build   a build folder to take the program from; by default one is made in build/release
# --output  where the archive goes; by default the build folder
# --tests   with unit_tests, manifest, impipe-bench and the scripts of scripts/gpu.sh, for a machine without a compiler
# --check   unpacks the archive in an empty folder and runs it with an empty environment and, as
#           root, in a root folder that has the C library and nothing else
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/staging.sh

build='' output='' tests='' check=''
while [ $# -gt 0 ]; do
  case $1 in
    --build | --output)
      [ $# -gt 1 ] || { echo "bundle.sh: $1 takes a folder" >&2; exit 2; }
      declare "${1#--}=$2"
      shift
      ;;
    --tests) tests=1 ;;
    --check) check=1 ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "bundle.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

setup_install patchelf xz-utils
if [ -z "$build" ]; then
  setup_main build
  setup_build release
  build=build/release
fi
[ -x "$build/src/cli/impipe" ] || { echo "bundle.sh: there is no impipe in $build" >&2; exit 2; }
version=$("$build/src/cli/impipe" --version | awk '{print $2; exit}')
name=impipe-$version-linux-x86_64
output=${output:-$build}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/$name
# cfitsio brings libcurl and thirty libraries of the network with it, OpenCV 137 libraries, GDAL's
# among them, gdcm OpenSSL, and OpenSlide Cairo and X11: FITS, Sun raster, DICOM and slides stay
# packages'.
left_out=(fits opencv dicom openslide)
programs=("$build/src/cli/impipe")
[ -z "$tests" ] || programs+=("$build/tests/unit_tests" "$build/tests/manifest" "$build/src/bench/impipe-bench")
stage_tree "$root" "$build" "$stage/needed"
# The C++ library is taken from the system, which has drivers that may need a newer one than ours;
# where there is none, from the bundle.
mkdir "$root/lib/impipe/libraries/cxx"
ldd "${programs[@]}" | awk '/lib(stdc\+\+|gcc_s)\./ {print $3}' | sort -u >"$stage/cxx"
while read -r library; do
  install -m 644 "$(readlink -f "$library")" \
    "$root/lib/impipe/libraries/cxx/$(basename "$library")"
done <"$stage/cxx"
for file in "$root"/lib/impipe/libraries/cxx/*; do patchelf --set-rpath '$ORIGIN' "$file"; done
stage_paths "$root" /usr/lib/x86_64-linux-gnu:/usr/lib64:/lib64:/usr/lib

# Where `cmake --install` puts them too: `man` and shells find them from a bin that is in PATH.
mkdir -p "$root"/share/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
"$build/src/cli/impipe" man >"$root/share/man/man1/impipe.1"
"$build/src/cli/impipe" completions bash >"$root/share/bash-completion/completions/impipe"
"$build/src/cli/impipe" completions zsh >"$root/share/zsh/site-functions/_impipe"
"$build/src/cli/impipe" completions fish >"$root/share/fish/vendor_completions.d/impipe.fish"

cp LICENSE README.md "$root"
cp -r packaging "$root/farm"
cp scripts/farm/slurm.sh "$root/farm"
git describe --always --dirty >"$root/COMMIT" 2>/dev/null || echo unknown >"$root/COMMIT"
if [ -n "$tests" ]; then
  mkdir -p "$root/tests" "$root/scripts"
  cp -r tests/data "$root/tests"
  mkdir -p "$root/docs/benchmarks"
  cp -r docs/benchmarks/bars "$root/docs/benchmarks"
  cp scripts/{gpu.sh,gpu_counters.sh,run_cases.py,compare_arrays.py,compare_bars.py,compare_builds.py} "$root/scripts"
fi
stage_notices "$stage/needed" "$stage/cxx" >"$root/THIRD-PARTY-NOTICES"

mkdir -p "$output"
archive=$(cd "$output" && pwd)/$name.tar.xz
compression=-6
[ -z "${IMPIPE_SANITIZED:-}" ] || compression=-0  # large, and it goes nowhere
tar -C "$stage" --owner=0 --group=0 --sort=name -cf - "$name" |
  xz -T0 "$compression" >"$archive"
bytes=$(stat -c %s "$archive")
echo "$archive: $((bytes / 1000000)) MB, $(wc -l <"$stage/needed") libraries"
[ "$bytes" -lt 60000000 ] || { echo "bundle.sh: larger than 60 MB" >&2; exit 1; }

if [ -n "$check" ]; then
  there=$stage/elsewhere
  mkdir "$there"
  tar -C "$there" -xf "$archive"
  impipe=$there/$name/bin/impipe
  cp tests/data/io/{rgb.jpg,gray8.png,gray16.tif,rgb8.webp,rgb.exr,gray8.bmp} "$there"
  (cd "$there" && env -i "$impipe" 'imgaussfilt 1 | imcomplement' ./*.[a-z]* -o out/)
  for picture in "$there"/*.*; do
    [ -f "$picture" ] || continue
    if [ "$(env -i "$impipe" 'imgaussfilt 1 | imcomplement' "$picture" --hash)" != \
      "$("$build/src/cli/impipe" 'imgaussfilt 1 | imcomplement' "$picture" --hash)" ]; then
      echo "bundle.sh: $(basename "$picture") comes out different" >&2
      exit 1
    fi
  done
  # Nothing but the C library is there: no C++ library, no driver. Without /proc the loader and the
  # program are told where the bundle lies.
  if [ "$(id -u)" = 0 ]; then
    bare=$stage/bare
    mkdir -p "$bare/lib64" "$bare/tmp"
    cp /lib64/ld-linux-x86-64.so.2 "$bare/lib64"
    for library in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0; do
      cp "/lib/x86_64-linux-gnu/$library" "$bare/lib64"
    done
    cp -r "$there/$name" "$bare/impipe"
    cp tests/data/io/gray8.png "$bare"
    if [ -n "${IMPIPE_SANITIZED:-}" ]; then
      # LeakSanitizer needs /proc, in which AddressSanitizer looks for its options.
      mkdir -p "$bare/proc/self"
      printf 'ASAN_OPTIONS=detect_leaks=0\0' >"$bare/proc/self/environ"
    fi
    found=$(env -i LD_ORIGIN_PATH=/impipe/bin IMPIPE_CODEC=/impipe/lib/impipe \
      /usr/sbin/chroot "$bare" /impipe/bin/impipe 'imgaussfilt 1' /gray8.png --hash)
    if [ "${found/\/gray8.png/}" != "$("$build/src/cli/impipe" 'imgaussfilt 1' \
      tests/data/io/gray8.png --hash | sed 's|tests/data/io/gray8.png||')" ]; then
      echo "bundle.sh: it does not run where there is the C library only" >&2
      exit 1
    fi
    echo "bundle.sh: runs beside the C library alone"
  fi
  for text in man/man1/impipe.1 bash-completion/completions/impipe zsh/site-functions/_impipe \
    fish/vendor_completions.d/impipe.fish; do
    [ "$(grep -c imgaussfilt "$there/$name/share/$text")" -gt 0 ] ||
      { echo "bundle.sh: share/$text does not know the operators" >&2; exit 1; }
  done
  # No library may come from elsewhere but the C and C++ ones.
  if env -i LD_LIBRARY_PATH= ldd "$there/$name"/bin/impipe "$there/$name"/lib/impipe/*.so |
    grep -E 'not found' >&2; then
    exit 1
  fi
  echo "bundle.sh: $(find "$there/out" -type f | wc -l) pictures done in an empty environment"
fi
