# Sourced by bundle.sh and wheel.sh: the program with its codec modules and the libraries that these
# need, in a tree that works wherever it is put.

# stage_tree ROOT BUILD LIST: installs the files of the array `programs` to ROOT/bin, the codec modules
# of BUILD but those of the array `left_out` to ROOT/lib/impipe, and the libraries that all of them
# need to ROOT/lib/impipe/libraries. LIST gets the paths of these.
stage_tree() {
  local root=$1 build=$2 list=$3 module library modules=()
  mkdir -p "$root/bin" "$root/lib/impipe/libraries"
  for module in "$build"/src/io/impipe_codec*.so; do
    library=${module##*impipe_codec_}
    [[ " ${left_out[*]} " == *" ${library%.so} "* ]] || modules+=("$module")
  done
  install -s "${programs[@]}" "$root/bin"
  install -s "${modules[@]}" "$root/lib/impipe"
  # Everything they need but the C and C++ libraries and what belongs to drivers.
  ldd "${programs[@]}" "${modules[@]}" | awk '/=> \//{print $3}' | sort -u |
    grep -Ev '/(ld-linux|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s)[.-]' |
    grep -Ev '/(libcuda|libnvrtc|libOpenCL)' >"$list" || true
  while read -r library; do
    install -m 644 "$(readlink -f "$library")" "$root/lib/impipe/libraries/$(basename "$library")"
  done <"$list"
}

# stage_paths ROOT [SYSTEM]: DT_RUNPATH is not inherited: each file says itself where the others are.
# With SYSTEM it then looks in those folders, and at last in libraries/cxx.
stage_paths() {
  local file folder system=${2:-}
  for file in "$1"/bin/* "$1"/lib/impipe/*.so "$1"/lib/impipe/libraries/*.so*; do
    case $file in
      "$1"/bin/*) folder='$ORIGIN/../lib/impipe/libraries' ;;
      */libraries/*) folder='$ORIGIN' ;;
      *) folder='$ORIGIN/libraries' ;;
    esac
    patchelf --set-rpath "$folder${system:+:$system:$folder/cxx}" "$file"
  done
}

# stage_packages LIST...: the packages that the libraries of the lists are from.
stage_packages() {
  # A package may know a file of /usr/lib as one of /lib.
  cat "$@" | while read -r library; do
    dpkg-query -S "$library" "/usr$library" "${library#/usr}" 2>/dev/null | cut -d: -f1 || true
  done | sort -u
}

# stage_notices LIST...: prints the versions and licences of the packages.
stage_notices() {
  echo "Libraries in lib/impipe/libraries, from packages of $(. /etc/os-release; echo "$PRETTY_NAME")."
  stage_packages "$@" | while read -r package; do
    printf '\n==== %s %s\n\n' "$package" "$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null)"
    cat "/usr/share/doc/$package/copyright" 2>/dev/null || true
  done
}
