// Both dialects: a word of a body means the function of the body's type (REAL), and real(0.5) is a
// cast. Each body and word sees `typedef float real`, or double, in its own block.
#define real(value) ((real)(value))
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define WORD(name) PASTE(name, REAL)
#define abs(a) fabs(a)
#define min(a, b) WORD(min_)(a, b)
#define max(a, b) WORD(max_)(a, b)
#define clamp(x, low, high) WORD(clamp_)(x, low, high)
#define round_away(x) WORD(round_away_)(x)
#define to_code(x, largest) WORD(to_code_)(x, largest)
#define at(dx, dy) at_centre[(dy) * at_pitch + (dx)]
