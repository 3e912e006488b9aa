#version 450

// Linear interpolation in a table with ascending places, found by bisection. Beyond the ends the end value holds; what is not
// a number gives the default.

layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer Places { float places[]; };
layout(std430, set = 0, binding = 1) readonly buffer Values { float values[]; };
layout(std430, set = 0, binding = 2) readonly buffer Queries { float queries[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Answers { float answers[]; };

layout(push_constant) uniform Parameters {
    uint entries;
    uint count;
    float fallback;
};

float lookUp(float query) {
    if (isnan(query)) {
        return fallback;
    }
    uint low = 0u;
    uint high = entries - 1u;
    if (query <= places[low]) {
        return values[low];
    }
    if (query >= places[high]) {
        return values[high];
    }
    while (high - low > 1u) {
        uint middle = (low + high) / 2u;
        if (places[middle] == query) {
            return values[middle];
        }
        if (places[middle] < query) {
            low = middle;
        } else {
            high = middle;
        }
    }
    float share = (query - places[low]) / (places[high] - places[low]);
    return mix(values[low], values[high], share);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        answers[i] = lookUp(queries[i]);
    }
}
