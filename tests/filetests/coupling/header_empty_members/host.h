#include <stdint.h>
struct Tag {};
struct Scale { [[no_unique_address]] Tag tag; uint32_t n; Tag none[0]; float factor; uint8_t rest[0]; };
// Here the tag takes a byte, and with it the first place.
struct Moved { Tag tag; uint32_t n; float factor; };
