#version 450
// Non-maximum suppression of scored intervals, as detectors do.
// groups: 1 1 1
// buffer: 0 int 96 random 191 0 60
// buffer: 1 uint 32 zero
// push: {"overlap": 5}
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Boxes { int box[]; };
layout(std430, binding = 1) writeonly buffer Kept { uint kept[]; };
layout(push_constant) uniform P { int overlap; };
shared bool dropped[32];
int low(int i) { return min(box[i * 3], box[i * 3 + 1]); }
int high(int i) { return max(box[i * 3], box[i * 3 + 1]); }
bool better(int a, int b) { return box[a * 3 + 2] > box[b * 3 + 2] || box[a * 3 + 2] == box[b * 3 + 2] && a < b; }
void main() {
    int me = int(gl_LocalInvocationIndex);
    dropped[me] = high(me) - low(me) < 2;
    barrier();
    bool drop_me = dropped[me];
    for (int other = 0; other < 32 && !drop_me; ++other) {
        if (other == me || !better(other, me)) continue;
        int shared_part = min(high(me), high(other)) - max(low(me), low(other));
        drop_me = shared_part > overlap && !(high(other) - low(other) < 2);
    }
    kept[me] = drop_me ? 0u : 1u;
}
