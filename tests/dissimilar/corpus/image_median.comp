#version 450
//! buffer 0 int 9 1 8 2 7 3 6 4 5
//! buffer 1 int 0*9
layout(local_size_x = 9) in;
layout(binding = 0) buffer A { int a[]; };
layout(binding = 1) buffer B { int b[]; };
void swap_if_less(inout int low, inout int high) {
    int smaller = min(low, high);
    high = max(low, high);
    low = smaller;
}
void main() {
    int window[3];
    int i = int(gl_LocalInvocationIndex);
    for (int k = 0; k < 3; k++) window[k] = a[clamp(i + k - 1, 0, 8)];
    swap_if_less(window[0], window[1]);
    swap_if_less(window[1], window[2]);
    swap_if_less(window[0], window[1]);
    b[i] = window[1];
}
