#version 450
//! buffer 0 int 0
//! finding data-race 11 9
//! unordered
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Progress { int progress; };
void main() {
    if (gl_LocalInvocationIndex == 2)
        progress = 7;
    else
        atomicMax(progress, 3);
}
