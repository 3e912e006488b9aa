#version 450
//! buffer 0 int 0
//! expect 0 int 7
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Progress { int progress; };
void main() {
    if (gl_LocalInvocationIndex == 2)
        atomicExchange(progress, 7);
    else
        atomicAdd(progress, 0);
}
