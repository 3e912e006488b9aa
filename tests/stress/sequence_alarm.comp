#version 450
// A state machine per sensor, written with nested loops, labels and early returns.
// groups: 1 1 1
// buffer: 0 uint 512 random 321 0 7
// buffer: 1 uint 16 zero
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Events { uint event[]; };
layout(std430, binding = 1) writeonly buffer States { uint final[]; };
const uint IDLE = 0u, ARMED = 1u, DELAY = 2u, ALARM = 3u;
uint step(uint state, uint e, inout uint timer) {
    switch (state) {
        case IDLE:
            if (e == 1u) return ARMED;
            if (e == 6u && timer > 2u) return ALARM;
            return IDLE;
        case ARMED:
            timer = 0u;
            if (e == 2u || e == 3u) return DELAY;
            return e == 0u ? IDLE : ARMED;
        case DELAY:
            if (e == 0u && timer < 4u) return IDLE;
            while (timer < 5u && e > 4u) { timer++; e--; }
            return ++timer > 5u ? ALARM : DELAY;
        default:
            if (!(e == 0u || e == 7u)) return ALARM;
            timer = 0u;
            return IDLE;
    }
}
void main() {
    uint me = gl_GlobalInvocationID.x, state = IDLE, timer = 0u, alarms = 0u;
    for (uint i = 0u; i < 32u; ++i) {
        uint before = state;
        state = step(state, event[me * 32u + i], timer);
        if (state == ALARM && before != ALARM) alarms++;
    }
    final[me] = alarms * 8u + state;
}
