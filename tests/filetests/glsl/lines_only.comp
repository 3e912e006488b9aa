#version 450
// accuracy: lines-only
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define KNOWS_LIMIT defined(LIMIT)
#define LIMIT 3
void main() {
#if KNOWS_LIMIT
    if (v[0] > 1 && v[1] < LIMIT) v[2] = 1;
#endif
}
// decision: D1 if "if (v[0] > 1 && v[1] < LIMIT) v[2] = 1;" conditions=2
