#version 450
//! groups 1 1 1
//! push uint 3 uint 4 uint 3
//! buffer 0 float 0*9
//! buffer 1 float 1*12
//! buffer 2 float 1*12
//! completion error
//! finding barrier-divergence 25 33
//! finding barrier-divergence 29 33
//! expect 0 float 4*9
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=1) buffer A { float a[]; };
layout(std430, set=0, binding=2) buffer B { float b[]; };
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(push_constant) uniform P { uint m; uint n; uint k; };
shared float ta[4][4], tb[4][4];
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    uint tx = gl_LocalInvocationID.x, ty = gl_LocalInvocationID.y;
    float s = 0.0;
    if (x < k && y < m) {
        for (uint p = 0; p < n / 4; ++p) {
            ta[ty][tx] = a[y * n + p * 4 + tx];
            tb[ty][tx] = b[(p * 4 + ty) * k + x];
            barrier(); 
            for (uint i = 0; i < 3; i++)
                s += ta[ty][i] * tb[i][tx];
            s += 1.0;
            barrier(); 
        }
        r[y * k + x] = s;
    }
} 
