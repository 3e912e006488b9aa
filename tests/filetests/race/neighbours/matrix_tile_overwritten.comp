#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
//! buffer 1 uint 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0
//! buffer 2 uint 0*16
//! finding data-race 19 22
//! finding data-race 20 22
//! unordered
layout(local_size_x=2, local_size_y=2) in;
//! groups 2 2 1
layout(std430, set=0, binding=0) readonly buffer A { uint a[]; };
layout(std430, set=0, binding=1) readonly buffer B { uint b[]; };
layout(std430, set=0, binding=2) buffer C { uint c[]; };
shared uint ta[2][2], tb[2][2];
void main() {
    uint tx = gl_LocalInvocationID.x, ty = gl_LocalInvocationID.y;
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    uint sum = 0;
    for (uint t = 0; t < 2; t++) {
        ta[ty][tx] = a[y * 4 + t * 2 + tx];
        tb[ty][tx] = b[(t * 2 + ty) * 4 + x];
        barrier();
        for (uint k = 0; k < 2; k++) sum += ta[ty][k] * tb[k][tx];
        // The next tile is loaded while others still multiply.
    }
    c[y * 4 + x] = sum;
}
