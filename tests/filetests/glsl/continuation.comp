#version 450
// A comment that goes on \
   if (a && b) is not code
layout(local_size_x = 1) in; /* ünïcödé äöü 漢字 && || */
layout(std430, binding = 0) buffer Data { int v[]; };
#define LONG(a, b) \
    ((a) \
     && (b))
void main() {
    // 漢字
    if (LONG(v[0] > 0, /* inner , comment */
             v[1] > 0)) v[2] = 1; // é
    if (v[3] > /* é */ 1
        && v[4] \
> 2) v[5] = 2;
}
// decision: D1 if "(a) && (b)" conditions=2 via=LONG
// decision: D2 if "v[3] > 1 && v[4] > 2" conditions=2
