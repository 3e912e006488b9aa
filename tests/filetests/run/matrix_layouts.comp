#version 450
//! uniform 1 float 1 2 0 0 3 4 0 0 1 2 0 0 3 4 0 0
//! buffer 0 float 0*8
//! expect 0 float 1 2 3 4 1 3 2 4
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(std140, set=0, binding=1) uniform U { mat2 c; layout(row_major) mat2 w; };
void main() {
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < 2; j++) {
            r[2 * k + j] = c[k][j];
            r[4 + 2 * k + j] = w[k][j];
        }
    }
}
