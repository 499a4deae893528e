# Runs the commands of docs/farm.md and compares folders; sourced by test_farm.sh and
# test_packaging.sh, which set page_kind to their mark, and folder to one of their own.
# shellcheck shell=bash disable=SC2154

page=$PWD/docs/farm.md

say() { printf '\n# %s\n' "$*"; }

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# show COMMAND: prints it, and runs it in this shell.
show() {
  printf '$ %s\n' "$1"
  eval "$1"
}

# run_block NAME: shows the commands below the line <!-- KIND: NAME --> of the page.
run_block() {
  local command commands=()
  mapfile -t commands < <(awk -v mark="<!-- $page_kind: $1 -->" '
    on && /^    / { sub(/^    /, ""); print; began = 1; next }
    began { exit }
    $0 == mark { on = 1 }' "$page")
  [ ${#commands[@]} -gt 0 ] || fail "docs/farm.md has no commands '$page_kind: $1'"
  for command in "${commands[@]}"; do show "$command" || return; done
}

hashes() { (cd "$1" && find . ! -type d | sort | tr '\n' '\0' | xargs -0r sha256sum); }

# compare REFERENCE OUTPUT: the same names, the same bytes, and nothing else, temporaries included.
compare() {
  [ -e "$folder/$1.sha256" ] || hashes "$1" >"$folder/$1.sha256"
  hashes "$2" >"$folder/other.sha256"
  diff "$folder/$1.sha256" "$folder/other.sha256" >&2 || fail "$2 differs from $1"
  echo "$2: $(wc -l <"$folder/other.sha256") files, names and SHA-256 those of $1; nothing else is there"
}
