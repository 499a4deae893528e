#!/usr/bin/env bash
# With -O3 the sorting step of a rank filter is scalar; with -O2 it has vectors.
#
# GCC 12.2 (Debian 12), x86-64-v3: a step of a sorting network leaves the smaller numbers of two rows of 32-bit
# integers in one row and the larger ones in the other (minimum and maximum as std::min and std::max have them,
# rows that are declared not to overlap). With rows of 8 and of 16 numbers, a count that the compiler knows, -O2
# makes vectors and -O3 makes none: it unrolls loops of up to 16 rounds completely before it looks for vectors, and
# does not put what is left of them together again. With rows of 17, 24 and 32 numbers -O3 has vectors. So rows that
# fill one or two registers, which one would choose for speed, are the slow ones: one step of 16 numbers took 12 ns
# with -O3, 3.5 with -O2, and 24 numbers with -O3 took 4.2. A pragma "GCC ivdep" changes nothing, and with floats
# -O3 does the same. Types of GCC's vector_size, with `a < b ? a : b`, stay vectors.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=12.2.0-14+deb12u1
apt-get download --quiet=2 -o APT::Sandbox::User=root cpp-12="$version" g++-12="$version" gcc-12="$version"
for package in ./*.deb; do dpkg -x "$package" "$folder/root"; done
cat > rows.cpp <<'CPP'
template <class T> static const T &smaller(const T &a, const T &b) { return b < a ? b : a; }
template <class T> static const T &larger(const T &a, const T &b) { return a < b ? b : a; }
static inline void sort_rows(int *__restrict a, int *__restrict b) {
  for (int i = 0; i < WIDTH; ++i) {
    const int low = smaller(a[i], b[i]), high = larger(a[i], b[i]);
    a[i] = low;
    b[i] = high;
  }
}
void sort_pairs(int *rows, const int *pairs, int count) {
  for (int k = 0; k < count; ++k) sort_rows(rows + WIDTH * pairs[2 * k], rows + WIDTH * pairs[2 * k + 1]);
}
CPP
vectors() {  # OPTIMISATION WIDTH: vector instructions of minima and maxima
  "$folder/root/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus" -quiet "-$1" -march=x86-64-v3 -DWIDTH="$2" rows.cpp -o rows.s 2> said ||
    { cat said; exit 1; }
  grep -c -E 'vpminsd|vpmaxsd' rows.s || true
}
found=''
for width in 8 16 17 24 32; do
  found+="$width: $(vectors O2 "$width") $(vectors O3 "$width"); "
done
echo "numbers of a row: vector instructions with -O2, with -O3: $found"
python3 - "$found" <<'PYTHON'
import sys
rows = {int(part.split(":")[0]): [int(n) for n in part.split(":")[1].split()]
        for part in sys.argv[1].split(";") if part.strip()}
assert all(rows[width][0] > 0 and rows[width][1] == 0 for width in (8, 16)), rows
assert all(rows[width][1] > 0 for width in (17, 24, 32)), rows
print("as described: -O3 has no vectors where a row has 8 or 16 numbers, -O2 has")
PYTHON
