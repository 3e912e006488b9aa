#version 450
// Lower bounds in a sorted array, with both ends checked first.
// groups: 1 1 1
// buffer: 0 int 40 iota
// buffer: 1 int 32 random 111 -5 45
// buffer: 2 int 32 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Sorted { int sorted_[]; };
layout(std430, binding = 1) readonly buffer Wanted { int wanted[]; };
layout(std430, binding = 2) writeonly buffer Found { int found[]; };
int lower(int x) {
    int low = 0, high = sorted_.length();
    if (x <= sorted_[0]) return 0;
    if (x > sorted_[high - 1]) return high;
    for (;;) {
        int middle = (low + high) >> 1;
        if (sorted_[middle] < x) low = middle + 1; else high = middle;
        if (!(low < high)) break;
    }
    return low;
}
void main() {
    uint me = gl_GlobalInvocationID.x;
    int at = lower(wanted[me]);
    bool exact = at < sorted_.length() && sorted_[min(at, sorted_.length() - 1)] == wanted[me];
    found[me] = exact ? at : -at - 1;
}
