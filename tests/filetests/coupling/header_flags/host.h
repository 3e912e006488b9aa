#include <stdint.h>
enum Kind { FIRST, LAST = 100 };
struct Sizes { uint32_t n; enum Kind kind; uint32_t step; };
