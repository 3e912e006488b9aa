#ifndef DEEP_OUTER
#define DEEP_OUTER
#include "inner.glsl"
#include "../shared.glsl"
bool outer(int x) { return inner(x) || in_band(x + DEPTH); }
#endif
