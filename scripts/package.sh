#!/usr/bin/env bash
# Makes Debian packages: impipe_VERSION_ARCH.deb with the program, its man page and completions,
# impipe-codec-NAME_VERSION_ARCH.deb for each codec module with a library of its own, libimpipe0 with
# the C library, libimpipe-dev and python3-impipe.
#
#   scripts/package.sh [--build DIR] [--output DIR] [--maintainer 'NAME <MAIL>'] [--release N]
#
# --build       a build folder to take the files from; by default one is made in build/release
# --output      where the packages go; by default packages/ in the build folder
# --maintainer  who answers for them
# --release     what stands behind the version's hyphen, 1 by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

build='' output='' settings=()
while [ $# -gt 0 ]; do
  case $1 in
    --build | --output | --maintainer | --release)
      [ $# -gt 1 ] || { echo "package.sh: $1 takes a value" >&2; exit 2; }
      case $1 in
        --maintainer) settings+=("-DIMPIPE_MAINTAINER=$2") ;;
        --release) settings+=("-DIMPIPE_PACKAGE_RELEASE=$2") ;;
        *) declare "${1#--}=$2" ;;
      esac
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "package.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

setup_install cmake dpkg-dev file gzip
if [ -z "$build" ]; then
  setup_main build
  setup_build release "${settings[@]}"
  build=build/release
elif [ ! -x "$build/src/cli/impipe" ]; then
  echo "package.sh: there is no impipe in $build" >&2
  exit 2
else
  cmake "${settings[@]}" "$build" >/dev/null
  cmake --build "$build" --target impipe impipe_api impipe_packed >&2
fi
build=$(cd "$build" && pwd)
output=${output:-$build/packages}
mkdir -p "$output"
output=$(cd "$output" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

(cd "$build" && cpack -G DEB -B "$stage") >"$stage/said" 2>&1 || { cat "$stage/said" >&2; exit 1; }
for package in "$stage"/*.deb; do
  # CPack calls ldconfig for whatever lies in a folder of /usr/lib; the modules are none of its.
  dpkg-deb -R "$package" "$stage/tree"
  rm -f "$stage"/tree/DEBIAN/post{inst,rm}
  own=cmake/debian/control/$(dpkg-deb -f "$package" Package)
  [ ! -d "$own" ] || cp -p "$own"/* "$stage/tree/DEBIAN"
  dpkg-deb --root-owner-group -Zxz -b "$stage/tree" "$output" >/dev/null
  rm -rf "$stage/tree"
  echo "$output/$(basename "$package")"
done
