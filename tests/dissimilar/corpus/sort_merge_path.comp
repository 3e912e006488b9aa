#version 450
//! buffer 0 int 1 4 6 9
//! buffer 1 int 2 3 7 8
//! buffer 2 int 0*8
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) readonly buffer B { int b[]; };
layout(binding = 2) buffer C { int c[]; };
void main() {
    int diagonal = int(gl_LocalInvocationID.x), low = max(0, diagonal - 4), high = min(diagonal, 4);
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] < b[diagonal - 1 - middle]) low = middle + 1; else high = middle;
    }
    int x = low, y = diagonal - low;
    c[diagonal] = y >= 4 || (x < 4 && a[x] <= b[y]) ? a[x] : b[y];
}
