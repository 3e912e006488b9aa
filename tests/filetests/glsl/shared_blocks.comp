#version 460
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 32) in;
shared First { uint words[64]; bool ready; };
shared Second { vec4 x; float tail[4]; } second;
layout(scalar, binding = 0) buffer Out { uint v[]; };
void main() {
    if (gl_LocalInvocationIndex == 0u) { ready = v[0] > 1u; words[0] = v[1]; second.x = vec4(v[2]); }
    barrier();
    if (ready && second.tail[1] > second.x.y) v[3] = words[1];
    bool copy = ready;
    v[4] = uint(copy);
}
// decision: D1 if "gl_LocalInvocationIndex == 0u" conditions=1
// decision: D2 assignment "v[0] > 1u" conditions=1
// decision: D3 if "ready && second.tail[1] > second.x.y" conditions=2
// decision: D4 initialiser "ready" conditions=1
// decision: D5 argument "copy" conditions=1
