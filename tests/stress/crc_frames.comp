#version 450
// CRC-16 over frames with a length byte; bad lengths are refused.
// groups: 1 1 1
// buffer: 0 uint 128 random 151 0 255
// buffer: 1 uint 8 zero
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer Frames { uint octet[]; };
layout(std430, binding = 1) writeonly buffer Sums { uint sum[]; };
void main() {
    uint me = gl_GlobalInvocationID.x, start = me * 16u, length = octet[start] & 31u;
    if (length == 0u || length > 15u) { sum[me] = 0xdeadu; return; }
    uint crc = 0xffffu;
    for (uint i = 1u; i <= length; ++i) {
        crc ^= octet[start + i] << 8;
        for (uint bit = 0u; bit < 8u; ++bit) {
            bool top = (crc & 0x8000u) != 0u;
            crc = (crc << 1) & 0xffffu;
            if (top) crc ^= 0x1021u;
        }
    }
    sum[me] = crc;
}
