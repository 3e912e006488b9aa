#version 450
//! buffer 0 float 0 1 1 0 0 1 0.5 2
layout(local_size_x = 1) in;
layout(binding = 0) buffer K { vec2 state; mat2 covariance; float measured; float gain; };
void main() {
    const mat2 F = mat2(1.0, 0.0, 0.1, 1.0);
    const vec2 H = vec2(1, 0);
    state = F * state;
    covariance = F * covariance * transpose(F) + mat2(0.01);
    float s = dot(H * covariance, H) + 0.1;
    vec2 k = covariance * H / s;
    state += k * (measured - dot(H, state));
    covariance = (mat2(1) - outerProduct(k, H)) * covariance;
    gain = k.x;
}
