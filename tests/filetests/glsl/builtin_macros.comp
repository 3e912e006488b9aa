#version 460 core
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : enable
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define HERE __LINE__
#define ID(x) x
#define AT(x) (x == __LINE__)
#if __VERSION__ != 460 || GL_core_profile != 1 || VULKAN < 100
wrong version
#endif
#if !defined(GL_EXT_shader_explicit_arithmetic_types_int16) || defined(GL_NO_SUCH_extension)
wrong extensions
#endif
void main() {
    v[0] = HERE;
    v[1] = ID(__LINE__) + ID(
        HERE);
    if (AT(v[2]) && v[3] == __VERSION__ && AT(
            v[4])) v[5] = GL_EXT_shader_explicit_arithmetic_types_int16 + VULKAN;
}
// decision: D1 if "AT(v[2]) && v[3] == __VERSION__ && AT( v[4])" conditions=3
