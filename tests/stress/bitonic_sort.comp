#version 450
// Bitonic sort of one tile in workgroup memory; the length may be no power of two.
// groups: 1 1 1
// buffer: 0 uint 48 random 3 0 99
// push: {"count": 48}
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Keys { uint keys[]; };
layout(push_constant) uniform Sizes { uint count; };
const uint NONE = 0xffffffffu;
shared uint tile[64];
void main() {
    uint me = gl_LocalInvocationIndex;
    tile[me] = me < count ? keys[me] : NONE;
    barrier();
    for (uint block = 2u; block <= 64u; block <<= 1) {
        for (uint step = block >> 1; step > 0u; step >>= 1) {
            uint other = me ^ step;
            bool ascending = (me & block) == 0u;
            uint mine = tile[me], theirs = tile[other];
            bool keep_small = ascending == (other > me);
            barrier();
            if (keep_small ? theirs < mine : theirs > mine) tile[me] = theirs;
            barrier();
        }
    }
    if (me < count && tile[me] != NONE) keys[me] = tile[me];
}
