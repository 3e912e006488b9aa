#version 450
// Flight envelope checks with hysteresis, confirmation counts and three levels of alert.
// groups: 1 1 1
// buffer: 0 float 384 random 231 0 100
// buffer: 1 uint 8 zero
// spec: {"0": {"type": "uint", "value": 3}}
layout(local_size_x = 8) in;
layout(constant_id = 0) const uint CONFIRM = 2;
layout(constant_id = 1) const bool INHIBIT_LOW = true;
layout(std430, binding = 0) readonly buffer Samples { float sample_[]; };
layout(std430, binding = 1) writeonly buffer Alerts { uint alert[]; };
const uint NONE = 0u, ADVISORY = 1u, CAUTION = 2u, WARNING = 3u;
uint level(float speed, float height, float bank, uint before) {
    float margin = before >= CAUTION ? 5.0 : 0.0;
    bool low = height < 20.0 + margin, fast = speed > 80.0 - margin, slow = speed < 15.0 + margin;
    bool steep = bank > 60.0 - margin || bank > 40.0 && low;
    if (INHIBIT_LOW && height < 5.0) return NONE;
    if (low && (slow || steep)) return WARNING;
    if ((fast ^^ slow) && steep) return CAUTION;
    return fast || slow || steep ? ADVISORY : NONE;
}
void main() {
    uint me = gl_GlobalInvocationID.x, state = NONE, count = 0u, worst = NONE;
    for (uint i = 0u; i < 16u; ++i) {
        uint at = (me * 16u + i) * 3u, now = level(sample_[at], sample_[at + 1u], sample_[at + 2u], state);
        switch (now) {
            case NONE: count = 0u; state = NONE; break;
            case ADVISORY:
            case CAUTION:
                if (now > state && ++count < CONFIRM) break;
                state = now;
                break;
            default: state = WARNING; count = 0u;
        }
        if (state > worst) worst = state;
    }
    alert[me] = worst;
}
