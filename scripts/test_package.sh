#!/usr/bin/env bash
# Installs, uses, upgrades and removes the packages of scripts/package.sh in a clean Debian 12 that
# debootstrap makes in a temporary folder. Takes some minutes and a network; run as root.
#
#   scripts/test_package.sh [--build DIR] [--mirror URL]
#
# --build   the build folder whose packages are tried; by default build/release, made if need be
# --mirror  where Debian's packages come from, http://deb.debian.org/debian by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

build=() mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
  case $1 in
    --build | --mirror)
      [ $# -gt 1 ] || { echo "test_package.sh: $1 takes a value" >&2; exit 2; }
      if [ "$1" = --build ]; then build=(--build "$2"); else mirror=$2; fi
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "test_package.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "test_package.sh: a chroot is root's to make" >&2; exit 2; }

setup_install debootstrap lintian libheif-examples pkg-config
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

fail() { echo "test_package.sh: $*" >&2; exit 1; }
there() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/home LC_ALL=C.UTF-8 chroot "$root" "$@"
}
apt() {
  there env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@" >"$work/said" 2>&1 && return
  cat "$work/said" >&2
  fail "apt-get $*"
}
version_of() { there dpkg-query -W -f '${Version}' "$1"; }

# Every file there but what apt, dpkg and others note for themselves, sorted.
files_there() {
  (cd "$root" && find . -xdev \( -path ./tmp -o -path ./proc -o -path ./var/cache -o -path ./var/log \
    -o -path ./var/lib/apt -o -path './var/lib/dpkg/*-old' \) -prune -o -print) | sort
}

# repack PACKAGE VERSION FOLDER: the same as another version, with a file that is no longer there.
repack() {
  dpkg-deb -R "$1" "$work/tree"
  sed -i -e "s/^Version: .*/Version: $2/" -e "s/(= [^)]*)/(= $2)/" -e "s/(<< [^)]*)/(<< $2)/g" \
    "$work/tree/DEBIAN/control"
  touch "$work/tree/usr/share/doc/$(dpkg-deb -f "$1" Package)/of-old"
  dpkg-deb --root-owner-group -b "$work/tree" "$3" >/dev/null
  rm -rf "$work/tree"
}

scripts/package.sh "${build[@]}" --output "$work/packages"
# These tags are about the first upload to Debian's own archive, and about libraries in one folder for
# each architecture, which ours are not in.
lintian --allow-root --fail-on error,warning --suppress-tags \
  initial-upload-closes-no-bugs,pkg-config-unavailable-for-cross-compilation "$work"/packages/*.deb
debootstrap --variant=minbase --include=man-db,bash-completion,zsh bookworm "$root" "$mirror" \
  >"$work/said" 2>&1 || { tail "$work/said" >&2; fail "debootstrap"; }
apt update
files_there >"$work/before"
mkdir -p "$root/tmp/packages" "$root/tmp/old" "$root/tmp/home"
cp "$work"/packages/*.deb "$root/tmp/packages"
version=$(dpkg-deb -f "$work"/packages/impipe_*.deb Version)
for package in "$work"/packages/*.deb; do repack "$package" 0.0.9-1 "$root/tmp/old"; done

# The program alone.
mapfile -t new < <(cd "$root" && printf '/%s\n' tmp/packages/*.deb)
mapfile -t old < <(cd "$root" && printf '/%s\n' tmp/old/*.deb)
program=/tmp/packages/$(cd "$work/packages" && echo impipe_*.deb)
apt install --no-install-recommends "$program"
[ "impipe ${version%-*}" = "$(there impipe --version | head -n 1)" ] || fail "another version"
written() {
  there impipe 'phantom 64 | im2uint8' -o "/tmp/$1" && there impipe mean2 "/tmp/$1" >/dev/null
}
for extension in png jpg tif webp bmp pgm npy qoi tga; do
  written "a.$extension" || fail "$extension cannot be written and read by impipe alone"
done
for extension in pfm hdr; do
  there impipe 'phantom 64 | im2single' -o "/tmp/a.$extension" || fail "$extension cannot be written"
done
mkdir "$work/samples"
echo R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs= | base64 -d >"$work/samples/a.gif"
heif-enc "$root/tmp/a.png" -o "$work/samples/a.heic" >/dev/null
card() { printf '%-80s' "$1"; }
{ for words in 'SIMPLE  =                    T' 'BITPIX  =                    8' \
    'NAXIS   =                    2' 'NAXIS1  =                    1' \
    'NAXIS2  =                    1' END; do card "$words"; done | dd bs=2880 conv=sync
  printf '\1' | dd bs=2880 conv=sync; } 2>/dev/null >"$work/samples/a.fits"
cp "$(/usr/bin/python3 -c 'from pydicom.data import get_testdata_file as f; print(f("CT_small.dcm"))')" \
  "$work/samples/a.dcm"
echo no slide >"$work/samples/a.ndpi"
printf '\x59\xa6\x6a\x95\0\0\0\1\0\0\0\1\0\0\0\x8\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0\x7f\0' >"$work/samples/a.ras"
cp tests/data/colour/config.ocio "$work/samples"
cp "$work"/samples/* "$root/tmp"
lacks() {  # PACKAGE COMMAND...: it fails, and says which package it needs
  "${@:2}" 2>"$work/said" && fail "$1 is not needed for ${*:2}"
  grep -q "install it (Debian: the package $1), or set IMPIPE_CODEC" "$work/said" ||
    fail "${*:2}: $(cat "$work/said")"
}
for extension in exr jxl jp2 avif zarr; do
  lacks "impipe-codec-$extension" there impipe 'phantom 64' -o "/tmp/a.$extension"
done
lacks impipe-codec-ocio there impipe "phantom 64 | gray2rgb | ocio a b config=@/tmp/config.ocio" -o /tmp/a.png
lacks impipe-codec-icc there impipe 'phantom 64 | icc srgb' -o /tmp/a.png
lacks impipe-codec-gif there impipe mean2 /tmp/a.gif
lacks impipe-codec-heif there impipe mean2 /tmp/a.heic
lacks impipe-codec-fits there impipe mean2 /tmp/a.fits
lacks impipe-codec-dicom there impipe mean2 /tmp/a.dcm
lacks impipe-codec-openslide there impipe mean2 /tmp/a.ndpi
lacks impipe-codec-opencv there impipe mean2 /tmp/a.ras
there impipe devices >"$work/said" || true
grep -q 'libcuda.so.1 was not found' "$work/said" || fail "devices: $(cat "$work/said")"
grep -q 'ocl-icd-libopencl1' "$work/said" || fail "devices: $(cat "$work/said")"
echo "impipe alone: 11 formats written, 13 need packages, which are named"

# The man page and the completions.
[ "$(there man -w impipe)" = /usr/share/man/man1/impipe.1.gz ] || fail "man does not find its page"
[[ $(there man impipe 2>/dev/null) == *'pipelines of MATLAB'* ]] || fail "the man page is empty"
[ "$(there bash -c '
  . /usr/share/bash-completion/bash_completion
  _completion_loader impipe
  COMP_WORDS=(impipe --fail) COMP_CWORD=1 COMP_LINE="impipe --fail" COMP_POINT=13
  $(complete -p impipe | sed -n "s/.* -F \([^ ]*\) .*/\1/p") impipe --fail impipe
  echo "${COMPREPLY[@]}"')" = --fail-fast ] || fail "bash does not complete"
[ "$(there zsh -fc 'autoload -Uz compinit; compinit -uD; echo $_comps[impipe]')" = _impipe ] ||
  fail "zsh does not complete"
echo "man -w impipe: /usr/share/man/man1/impipe.1.gz; bash and zsh complete"

# All packages.
apt install "${new[@]}"
for extension in exr jxl jp2 avif zarr; do
  there impipe 'phantom 64' -o "/tmp/a.$extension" || fail "$extension cannot be written"
done
for extension in exr jxl jp2 avif zarr gif heic fits ras; do
  there impipe 'imgaussfilt 1' "/tmp/a.$extension" -o "/tmp/of-$extension.png" ||
    fail "$extension cannot be read"
done
there impipe 'imgaussfilt 1' /tmp/a.dcm -o /tmp/of-dcm.png --window 40,400 ||
  fail "dcm cannot be read"
there impipe mean2 /tmp/a.ndpi 2>"$work/said" && fail "a.ndpi is read"
grep -q 'no slide that OpenSlide' "$work/said" || fail "a.ndpi: $(cat "$work/said")"
colours='phantom 64 | gray2rgb | ocio ACEScg "sRGB - Display" config=@/tmp/config.ocio | icc display-p3'
there impipe "$colours" -o /tmp/colours.png || fail "colours are not converted"
echo "with all packages: 10 more formats are converted, and colours by ICC and OpenColorIO"

# The library: a C program that pkg-config builds, and Python.
flags=$(PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig pkg-config --cflags --libs impipe) ||
  fail "pkg-config does not find the library"
cc tests/api/example.c $flags -Wl,--unresolved-symbols=ignore-in-shared-libs -o "$root/tmp/example"
there /tmp/example || fail "the C example"
[ "$(there python3 -c "
import impipe, numpy
print(impipe.run('imcomplement', numpy.zeros((2, 3), numpy.uint8)).sum(), impipe.ops('imcrop')[:7],
      impipe.run('icc display-p3', numpy.zeros((2, 3, 3), numpy.uint8)).sum())
" 2>"$work/said")" = "1530 imcrop: 0" ] || fail "the Python package"
echo "libimpipe-dev: the C example is built and runs; python3-impipe: arrays, and the program"

# Removed; then an older version, with what it recommends; upgraded, never one without the others.
mapfile -t packages < <(there dpkg-query -W -f '${Package}\n' '*impipe*')
apt remove "${packages[@]}"
[ -z "$(files_there | grep impipe)" ] || fail "left after remove: $(files_there | grep impipe)"
there impipe --version 2>/dev/null && fail "the program is still there"
apt install "${old[@]}"
[ "$(version_of impipe-codec-exr)" = 0.0.9-1 ] || fail "the older version is not there"
there impipe devices >"$work/said" || true
grep -q 'no OpenCL driver' "$work/said" || fail "the loader of OpenCL did not come: $(cat "$work/said")"
there dpkg -i "$program" >/dev/null 2>&1 &&
  fail "the program is upgraded without its modules"
there impipe imcomplement /tmp/a.exr -o /tmp/b.exr || fail "a refused upgrade broke what was there"
apt install "${new[@]}"
for package in "${packages[@]}"; do
  [ "$(version_of "$package")" = "$version" ] || fail "$package is not upgraded"
done
[ -z "$(files_there | grep of-old)" ] || fail "files of the older version are left"
there impipe imcomplement /tmp/a.exr -o /tmp/b.exr || fail "nothing goes after the upgrade"
echo "upgraded from 0.0.9-1 to $version"

# Nothing stays.
apt purge "${packages[@]}"
# Also what packages of the bare system recommend, such as apt ca-certificates.
apt autoremove --purge -o APT::AutoRemove::RecommendsImportant=false \
  -o APT::AutoRemove::SuggestsImportant=false
files_there >"$work/after"
diff "$work/before" "$work/after" || fail "these files came and stayed"
echo "purged: the same $(wc -l <"$work/after") files as before"
