#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
shared uint kept[4];
void main() {
    uint i = gl_LocalInvocationID.x;
    kept[i] = values[i];
    memoryBarrierShared();
    barrier();
    values[i] = kept[3u - i];
}
