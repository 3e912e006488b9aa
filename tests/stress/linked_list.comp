#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Walks a list of device addresses until its end or a bound; the last node has no next one.
// groups: 1 1 1
// memory: 0 uint 16 iota
// memory: 2 uint 16 zero
// buffer: 1 uint 4 zero
// address: 0 0 0 16
// address: 0 16 0 32
// address: 0 32 2 0
// push: {"head": {"address_of": "b0"}, "limit": 5}
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { Node next; uint value; uint pad; };
layout(std430, binding = 1) writeonly buffer Out { uint seen[]; };
layout(push_constant) uniform P { Node head; uint limit; };
bool last(Node at) { return uvec2(at.next) == uvec2(0u); }
void main() {
    Node at = head;
    uint count = 0u, sum = 0u;
    for (;;) {
        if (at.value > 6u && count < 2u || last(at)) break;
        sum += at.next.value > at.value ? at.next.next.value : 1u;
        at = at.next;
        if (++count >= limit) break;
    }
    seen[count < 4u ? count : 3u] = sum > 3u ? sum : 9u;
}
