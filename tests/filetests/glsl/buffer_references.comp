#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {
    Node next;
    int value;
    Node children[2];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) restrict readonly buffer Floats { float x[]; };
layout(push_constant) uniform Roots { Node head; Floats values; uvec2 packed; uint64_t address; } roots;
layout(std430, binding = 0) buffer Out { int v[]; };
bool ends(Node p) { return uint64_t(p) == 0ul; }
void main() {
    Node p = roots.head;
    for (int i = 0; i < 8 && !ends(p); ++i) {
        if (p.value > 3) v[i] = p.next.next.value;
        p = p.value < 0 ? p.children[0] : p.children[p.value > 1 ? 1 : 0].next;
    }
    Floats f = Floats(roots.address);
    if (f.x[2] > 0.5 || roots.values.x[0] < roots.values.x[1]) v[9] = 1;
    Node q = Node(roots.packed);
    q.value = uvec2(q).x == 0u ? 1 : int(uint64_t(q + 2) >> 4);
    Node[2] both = Node[2](p, q);
    both[1].next.value = 3;
}
// decision: D1 return "uint64_t(p) == 0ul" conditions=1
// decision: D2 for "i < 8 && !ends(p)" conditions=2
// decision: D3 if "p.value > 3" conditions=1
// decision: D4 ternary "p.value < 0" conditions=1
// decision: D5 ternary "p.value > 1" conditions=1
// decision: D6 if "f.x[2] > 0.5 || roots.values.x[0] < roots.values.x[1]" conditions=2
// decision: D7 ternary "uvec2(q).x == 0u" conditions=1
