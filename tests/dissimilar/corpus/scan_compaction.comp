#version 450
//! buffer 0 uint 5 0 3 0 0 9 1 0
//! buffer 1 uint 0*9
layout(local_size_x = 8) in;
layout(binding = 0) buffer In { uint given[]; };
layout(binding = 1) buffer Out { uint count; uint kept[]; };
shared uint flags[8];
void main() {
    uint i = gl_LocalInvocationID.x;
    flags[i] = uint(given[i] != 0u);
    barrier();
    uint place = 0u;
    for (uint k = 0u; k < i; ++k) place += flags[k];
    if (flags[i] == 1u) kept[place] = given[i];
    if (i == 7u) count = place + flags[i];
}
