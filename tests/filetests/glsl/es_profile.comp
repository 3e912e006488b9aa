#version 310 es
precision highp float;
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { highp int v[]; };
void main() {
    mediump int x = v[0];
    if (x > 0 && x < 5) { v[1] = x; }
    switch (x) { case 1: v[2] = 1; break; }
}
// decision: D1 if "x > 0 && x < 5" conditions=2
// switch: W1 "x" case 1:|no label matches
