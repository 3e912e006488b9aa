#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int classify(int x) {
    switch (x & 3) {
    case 0:
        return 1;
    case 1: case 2: {
        int y = x;
        return y;
    }
    default:
        break;
    }
    switch (x) { case 5: int z = 3; x = z; }
    switch (x) { case 1: x = 2; default: if (x > 1) x = 3; else break; case 9: x = 4; }
    return x;
}
void main() { v[0] = classify(v[1]); }
// switch: W1 "x & 3" case 0:|case 1:|case 2:|default:
// switch: W2 "x" case 5:|no label matches
// switch: W3 "x" case 1:|default:|case 9:
// decision: D1 if "x > 1" conditions=1
// exits: classify 3
