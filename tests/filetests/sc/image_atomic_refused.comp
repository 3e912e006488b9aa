//! refused instruction OpAtomicOr (feature shaderAtomicInstructions, not in sc_features) in `main` at image_atomic_refused.comp:6
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D image;
void main() {
    imageAtomicOr(image, ivec2(0), 1u);
}
