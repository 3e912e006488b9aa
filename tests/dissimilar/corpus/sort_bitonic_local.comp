#version 450
//! buffer 0 uint 8 3 5 1 7 2 6 4
layout(local_size_x = 4) in;
layout(binding = 0) buffer Keys { uint keys[]; };
shared uint local_keys[8];
void compare_and_swap(uint a, uint b) {
    if (local_keys[a] > local_keys[b]) { uint kept = local_keys[a]; local_keys[a] = local_keys[b]; local_keys[b] = kept; }
}
void main() {
    uint t = gl_LocalInvocationID.x;
    local_keys[2 * t] = keys[2 * t];
    local_keys[2 * t + 1] = keys[2 * t + 1];
    for (uint k = 2; k <= 8; k <<= 1) {
        for (uint j = k >> 1; j > 0; j >>= 1) {
            barrier();
            uint low = (t / j) * j * 2 + t % j, high = low + j;
            bool up = (low & k) == 0;
            if (up) compare_and_swap(low, high); else compare_and_swap(high, low);
        }
    }
    barrier();
    keys[2 * t] = local_keys[2 * t];
    keys[2 * t + 1] = local_keys[2 * t + 1];
}
