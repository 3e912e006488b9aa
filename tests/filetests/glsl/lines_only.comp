#version 450
// accuracy: lines-only
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#line 6 3
void main() {
    v[3] = __FILE__;
    if (v[0] > 1 && v[1] < 3) v[2] = 1;
    switch (v[4]) { case 1: v[5] = 2; }
}
// decision: D1 if "if (v[0] > 1 && v[1] < 3) v[2] = 1;" conditions=2
// switch: W1 "switch (v[4]) { case 1: v[5] = 2; }" switch (v[4]) { case 1: v[5] = 2; }|no label matches
