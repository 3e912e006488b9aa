#version 450
// Dynamic programming over items by one workgroup, two tables in workgroup memory.
// groups: 1 1 1
// buffer: 0 uint 24 random 171 1 9
// buffer: 1 uint 32 zero
// push: {"items": 12}
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Items { uvec2 item[]; };
layout(std430, binding = 1) writeonly buffer Best { uint best[]; };
layout(push_constant) uniform P { uint items; };
shared uint table[2][32];
void main() {
    uint capacity = gl_LocalInvocationIndex;
    table[0][capacity] = 0u;
    barrier();
    uint now = 0u;
    for (uint i = 0u; i < items && i < 12u; ++i) {
        uint weight = item[i].x, value = item[i].y, without = table[now][capacity];
        uint with_ = capacity >= weight ? table[now][capacity - weight] + value : 0u;
        table[1u - now][capacity] = with_ > without || with_ == without && value > 5u ? with_ : without;
        now = 1u - now;
        barrier();
    }
    best[capacity] = table[now][capacity];
}
