#version 450
//! buffer 0 int 5 -3 9 0 5 2
//! buffer 1 int 0*6
layout(local_size_x = 6) in;
layout(binding = 0) buffer A { int a[]; };
layout(binding = 1) buffer B { int b[]; };
void main() {
    int i = int(gl_LocalInvocationIndex), rank = 0;
    for (int k = 0; k < a.length(); k++) if (a[k] < a[i] || a[k] == a[i] && k < i) rank++;
    b[rank] = a[i];
}
