#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
//! buffer 1 uint 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0
//! buffer 2 uint 0*16
//! expect 2 uint 8 9 13 8 20 25 33 20 32 41 53 32 44 57 73 44
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
        barrier();
    }
    c[y * 4 + x] = sum;
}
