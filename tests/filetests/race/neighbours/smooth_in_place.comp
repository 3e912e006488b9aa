#version 450
// Jacobi's step on one array: neighbours see old or new values.
//! buffer 0 float 0 0 16 0 0 0 0 0
//! finding data-race 12 12
//! detail data-race memory buffer
//! detail data-race same_value false
//! unordered
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Cells { float d[]; };
void main() {
    uint i = gl_LocalInvocationIndex + 1;
    d[i] = 0.25 * d[i - 1] + 0.5 * d[i] + 0.25 * d[i + 1];
}
