#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Values { uint values[]; };
layout(binding = 1, r32ui) uniform uimage2D texels;
layout(binding = 2) buffer Results { uint results[]; };
layout(push_constant) uniform Parameters { uint count; uint step; };

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) return;
    ivec2 place = ivec2(index % 8, index / 8);
    uint value = values[index] * 3 + step + imageLoad(texels, place).x;
    values[index] = value;
    imageStore(texels, place, uvec4(value ^ index));
    results[index] = value;
}
