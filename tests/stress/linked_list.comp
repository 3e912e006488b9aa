#version 460
#extension GL_EXT_buffer_reference : require
// Walks a list of device addresses until its end or a bound.
// groups: 1 1 1
// buffer: 0 uint 32 zero
// buffer: 1 uint 4 zero
// address: 0 0 0 32
// address: 0 32 0 64
// push: {"head": {"address_of": 0}, "limit": 5}
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { Node next; uint value; uint pad; };
layout(std430, binding = 1) buffer Out { uint seen[]; };
layout(push_constant) uniform P { Node head; uint limit; };
void main() {
    Node at = head;
    uint count = 0u;
    while (count < limit && uvec2(0u) != uvec2(count, 1u)) {
        if (at.value > 3u || count == 2u) break;
        at = at.next;
        ++count;
    }
    seen[0] = count > 1u ? count : 9u;
}
