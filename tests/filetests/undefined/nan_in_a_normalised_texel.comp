#version 450
//! buffer 0 float NaN
//! neighbour buffer 0 float inf
//! texels 1 storage_texel rgba8 uint 0
//! finding undefined-value 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
layout(set=0, binding=1, rgba8) uniform imageBuffer img;
void main() {
    imageStore(img, 0, vec4(0.0, a[0], 0.0, 0.0));
}
