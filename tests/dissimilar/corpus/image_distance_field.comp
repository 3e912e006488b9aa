#version 450
//! buffer 0 uint 0 0 1 0 0 0 1 0
//! buffer 1 float 0*8
layout(local_size_x = 8) in;
layout(binding = 0) buffer Mask { uint mask[8]; };
layout(binding = 1) buffer Field { float field[8]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float best = 1e9;
    for (uint k = 0; k < mask.length(); ++k)
        if (mask[k] != 0) best = min(best, distance(vec2(i, 0), vec2(k, 1)));
    field[i] = best < 1e8 ? sqrt(best) : -1;
}
