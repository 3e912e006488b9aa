#version 450

// Tracks with constant velocity, one per invocation: predict, compare with the measurement, correct by fixed gains. A
// measurement that is missing (NaN) or outside the gate is skipped; a track that coasts too long is dropped.

layout(local_size_x = 4) in;

layout(std430, set = 0, binding = 0) readonly buffer Measurements { float measured[]; };
layout(std430, set = 0, binding = 1) buffer States { vec2 states[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Skipped { int skipped[]; };

layout(push_constant) uniform Parameters {
    uint tracks;
    uint steps;
    float gate;
    int patience;
};

const float POSITION_GAIN = 0.5;
const float VELOCITY_GAIN = 0.25;
const float INTERVAL = 1.0;

struct Track {
    float position;
    float velocity;
    int coasted;
};

void correct(inout Track track, float innovation) {
    track.position += POSITION_GAIN * innovation;
    track.velocity += VELOCITY_GAIN * innovation / INTERVAL;
    track.coasted = 0;
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= tracks) {
        return;
    }
    Track track = Track(states[index].x, states[index].y, 0);
    bool alive = true;
    for (uint instant = 0u; instant < steps && alive; ++instant) {
        track.position += INTERVAL * track.velocity;
        float innovation = measured[index * steps + instant] - track.position;
        if (isnan(innovation) || abs(innovation) > gate) {
            ++track.coasted;
            alive = track.coasted <= patience;
            continue;
        }
        correct(track, innovation);
    }
    states[index] = vec2(track.position, track.velocity);
    skipped[index] = alive ? track.coasted : -1;
}
