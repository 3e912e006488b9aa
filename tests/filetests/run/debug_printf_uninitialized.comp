#version 450
#extension GL_EXT_debug_printf : require
//! buffer 0 uint ?
//! print 0 0 0 @9 cdcdcdcd
//! finding uninitialized-read 9
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() {
    debugPrintfEXT("%x", r[0]);
    r[0] = 1u;
}
