#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8
layout(local_size_x = 8) in;
layout(binding = 0) buffer D { uint data[]; };
shared uint ping[2][8];
void main() {
    uint i = gl_LocalInvocationID.x;
    int now = 0;
    ping[now][i] = data[i];
    barrier();
    for (uint offset = 1u; offset < gl_WorkGroupSize.x; offset *= 2u) {
        int next = 1 - now;
        ping[next][i] = i >= offset ? ping[now][i] + ping[now][i - offset] : ping[now][i];
        now = next;
        barrier();
    }
    data[i] = ping[now][i];
}
