#version 450

// Response of an array of antenna elements to each of several directions: the mean of the elements' phases, weighted, as a
// complex number (real part, imaginary part).

#define TWO_PI 6.2831853

layout(local_size_x = 64) in;

struct Element {
    vec2 position;  // in wavelengths
    float weight;
    uint state;     // the element works where this is WORKING
};

#define WORKING 1u

layout(std430, set = 0, binding = 0) readonly buffer Elements { Element elements[]; };
layout(std430, set = 0, binding = 1) readonly buffer Directions { vec2 directions[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Responses { vec2 responses[]; };

layout(push_constant) uniform Parameters {
    uint elementCount;
    uint directionCount;
};

void main() {
    uint which = gl_GlobalInvocationID.x;
    if (which >= directionCount) {
        return;
    }

    vec2 direction = directions[which];
    vec2 sum = vec2(0.0);
    float weights = 0.0;
    for (uint e = 0u; e < elementCount; ++e) {
        Element element = elements[e];
        if (element.state != WORKING) {
            continue;
        }
        float phase = TWO_PI * dot(element.position, direction);
        sum += element.weight * vec2(cos(phase), sin(phase));
        weights += element.weight;
    }
    responses[which] = weights > 0.0 ? sum / weights : vec2(0.0);
}
