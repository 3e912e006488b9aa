#version 450
//! buffer 0 uint 1 2 3 4
//! buffer 1 uint 2 4 3 4
//! buffer 2 uint 0
//! expect 2 uint 3
//! spare 16
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer A { uint a[]; };
layout(std430, set=0, binding=1) readonly buffer B { uint b[]; };
layout(std430, set=0, binding=2) buffer R { uint r[]; };
shared uint best[5][5];
void main() {
    // Longest common subsequence: one invocation for each row, one anti-diagonal after the other.
    uint i = gl_LocalInvocationIndex;
    for (uint k = 0; k < 5; k++) { best[i + 1][k] = 0; if (i == 0) best[0][k] = 0; }
    barrier();
    for (uint diagonal = 0; diagonal < 7; diagonal++) {
        uint j = diagonal - i;
        if (diagonal >= i && j < 4) {
            uint across = best[i][j] + uint(a[i] == b[j]);
            uint above = max(best[i][j + 1], best[i + 1][j]);
            best[i + 1][j + 1] = max(across, above);
        }
        barrier();
    }
    if (i == 3) r[0] = best[4][4];
}
