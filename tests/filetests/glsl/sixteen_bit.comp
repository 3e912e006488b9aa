#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Node { uint value; Node next; };
layout(std430, binding = 0) buffer Data { float16_t h[4]; uint8_t b[4]; int64_t w; };
layout(push_constant) uniform Push { Node head; };
void main() {
    float16_t x = h[0] * 2.0hf + float16_t(1.5HF);
    uint16_t s = 3us; int16_t t = -4S;
    f16vec2 p = f16vec2(x, h[1]);
    if (x > 1.0hf && s == 3us || t < 0s) h[2] = p.y;
    if (w > 0x7fffffffffL || b[0] != uint8_t(2)) b[1] = b[0];
    Node node = head;
    while (node.value != 0u) node = node.next;
    w = 5ul > 4UL ? 1l : 0L;
}
// decision: D1 if "x > 1.0hf && s == 3us || t < 0s" conditions=3
// decision: D2 if "w > 0x7fffffffffL || b[0] != uint8_t(2)" conditions=2
// decision: D3 while "node.value != 0u" conditions=1
// decision: D4 ternary "5ul > 4UL" conditions=1 const=constant
