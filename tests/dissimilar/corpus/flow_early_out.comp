#version 450
//! buffer 0 uint 4 8 15 16 23 42 1 2
layout(local_size_x = 8) in;
layout(binding = 0) buffer R { uint r[]; };
shared bool found;
void main() {
    uint i = gl_LocalInvocationID.x;
    if (i == 0u) found = false;
    barrier();
    if (r[i] == 23u) found = true;
    barrier();
    do {
        if (!found || (i & 1u) == 0u && r[i] > 10u) break;
        r[i] = ~r[i];
    } while (false);
}
