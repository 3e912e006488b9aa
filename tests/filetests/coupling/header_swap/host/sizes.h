#include <stdint.h>

typedef struct {
    uint32_t m;
    uint32_t n;
    uint32_t k;
} Sizes;
