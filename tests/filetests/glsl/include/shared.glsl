#ifndef SHARED_GLSL
#define SHARED_GLSL
#include "nested.glsl"
const int LOW = 2;
bool in_band(int x) {
    return x > LOW && below(x);
}
#endif
