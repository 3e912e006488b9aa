#version 450

// Integer wavelet transform of the lines of an image (reversible 5/3, by lifting), in place, one workgroup per line.
//
//   samples     point i of a line stands at line * lineStep + i * pointStep, so that a line is a row or a column
//
// Each level leaves the low-pass values before the high-pass values and goes on with the low-pass values. Beyond its ends a
// line goes on as in a mirror. High-pass values nearer to zero than `deadZone` become zero.

#define LANES 8
#define MAX_POINTS 64
#define MAX_LEVELS 4u

layout(local_size_x = LANES, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) buffer Samples { int samples[]; };

layout(push_constant) uniform Parameters {
    uint lines;
    uint points;
    uint levels;
    uint lineStep;
    uint pointStep;
    int deadZone;
};

shared int values[MAX_POINTS];
shared int lowPass[MAX_POINTS / 2];
shared int highPass[MAX_POINTS / 2];

// A value at an odd place less the mean of its neighbours, rounded down. Behind the last value comes the last but one.
int highPassValue(uint number, uint count) {
    uint place = number * 2u + 1u;
    uint next = place + 1u < count ? place + 1u : place - 1u;
    return values[place] - ((values[place - 1u] + values[next]) >> 1);
}

// A value at an even place with a quarter of the high-pass values beside it, rounded to the nearest integer. Where there is
// one on one side alone, it stands on both.
int lowPassValue(uint number, uint highs) {
    uint left = number > 0u ? number - 1u : 0u;
    uint right = number < highs ? number : left;
    return values[number * 2u] + ((highPass[left] + highPass[right] + 2) >> 2);
}

int quantised(int value) {
    return value > -deadZone && value < deadZone ? 0 : value;
}

void main() {
    // The same for all invocations of a workgroup, so that all barriers stand in uniform control flow.
    if (gl_WorkGroupID.x >= lines || points > MAX_POINTS || levels > MAX_LEVELS) {
        return;
    }

    uint lane = gl_LocalInvocationID.x;
    uint lineStart = gl_WorkGroupID.x * lineStep;
    for (uint place = lane; place < points; place += LANES) {
        values[place] = samples[lineStart + place * pointStep];
    }
    barrier();

    uint count = points;
    for (uint level = 0u; level < levels && count > 1u; ++level) {
        uint highs = count / 2u;
        uint lows = count - highs;
        for (uint number = lane; number < highs; number += LANES) {
            highPass[number] = highPassValue(number, count);
        }
        barrier();

        for (uint number = lane; number < lows; number += LANES) {
            lowPass[number] = lowPassValue(number, highs);
        }
        barrier();

        for (uint number = lane; number < lows; number += LANES) {
            values[number] = lowPass[number];
        }
        for (uint number = lane; number < highs; number += LANES) {
            values[lows + number] = quantised(highPass[number]);
        }
        barrier();
        count = lows;
    }

    for (uint place = lane; place < points; place += LANES) {
        samples[lineStart + place * pointStep] = values[place];
    }
}
