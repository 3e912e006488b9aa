#version 460
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define LOG(text, x) if (v[0] > 1) debugPrintfEXT(text, x)
void main() {
    debugPrintfEXT("plain && text || more ? yes : no // no comment /* here */ \n");
    LOG("value \"%d\" at %d, (a && b)\\", v[1] > 0 ? 1 : 2);
    if (v[2] == 3) debugPrintfEXT("%f %u %v3f #if 0", 1.0, 2u, vec3(v[3] > 4));
}
// decision: D1 if "v[0] > 1" conditions=1 via=LOG
// decision: D2 ternary "v[1] > 0" conditions=1 via=LOG
// decision: D3 if "v[2] == 3" conditions=1
// decision: D4 argument "v[3] > 4" conditions=1
