#version 450

// One round of AES-128 encryption (FIPS 197) on the blocks of a frame, in place, one invocation per column of a block.
//
//   state        blockCount blocks of 16 bytes in the order of FIPS 197; a word is a column, row 0 its lowest byte
//   roundKeys    the expanded key: 11 round keys of 16 bytes
//
// Round 0 adds the round key alone, round 10 does not mix columns. The first clearBlocks blocks are the header of the
// frame and stay as they are.

#define GROUP 16
#define COLUMNS 4u
#define LAST_ROUND 10u

layout(local_size_x = GROUP, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) buffer State { uint state[]; };
layout(std430, set = 0, binding = 1) readonly buffer RoundKeys { uint roundKeys[]; };

layout(push_constant) uniform Parameters {
    uint blockCount;
    uint clearBlocks;
    uint round;
};

// What takes the place of each byte, four in a word, the first in its lowest byte.
const uint SUBSTITUTES[64] = uint[64](
    0x7B777C63u, 0xC56F6BF2u, 0x2B670130u, 0x76ABD7FEu, 0x7DC982CAu, 0xF04759FAu, 0xAFA2D4ADu, 0xC072A49Cu,
    0x2693FDB7u, 0xCCF73F36u, 0xF1E5A534u, 0x1531D871u, 0xC323C704u, 0x9A059618u, 0xE2801207u, 0x75B227EBu,
    0x1A2C8309u, 0xA05A6E1Bu, 0xB3D63B52u, 0x842FE329u, 0xED00D153u, 0x5BB1FC20u, 0x39BECB6Au, 0xCF584C4Au,
    0xFBAAEFD0u, 0x85334D43u, 0x7F02F945u, 0xA89F3C50u, 0x8F40A351u, 0xF5389D92u, 0x21DAB6BCu, 0xD2F3FF10u,
    0xEC130CCDu, 0x1744975Fu, 0x3D7EA7C4u, 0x73195D64u, 0xDC4F8160u, 0x88902A22u, 0x14B8EE46u, 0xDB0B5EDEu,
    0x0A3A32E0u, 0x5C240649u, 0x62ACD3C2u, 0x79E49591u, 0x6D37C8E7u, 0xA94ED58Du, 0xEAF4566Cu, 0x08AE7A65u,
    0x2E2578BAu, 0xC6B4A61Cu, 0x1F74DDE8u, 0x8A8BBD4Bu, 0x66B53E70u, 0x0EF60348u, 0xB9573561u, 0x9E1DC186u,
    0x1198F8E1u, 0x948ED969u, 0xE9871E9Bu, 0xDF2855CEu, 0x0D89A18Cu, 0x6842E6BFu, 0x0F2D9941u, 0x16BB54B0u
);

shared uint columns[GROUP];

uint substitutedBytes(uint word) {
    uint result = 0u;
    for (uint shift = 0u; shift < 32u; shift += 8u) {
        uint value = (word >> shift) & 0xFFu;
        uint substitute = (SUBSTITUTES[value / 4u] >> (value % 4u * 8u)) & 0xFFu;
        result |= substitute << shift;
    }
    return result;
}

// The column whose byte of row r stands r columns further on, behind the last column in the first one again.
uint shiftedRows(uint firstColumn, uint column) {
    uint result = 0u;
    for (uint row = 0u; row < 4u; ++row) {
        result |= columns[firstColumn + (column + row) % COLUMNS] & (0xFFu << (row * 8u));
    }
    return result;
}

// All bytes times 2 in the field of AES: what is shifted out of a byte is taken off as the polynomial 0x11B.
uint doubledBytes(uint word) {
    return ((word & 0x7F7F7F7Fu) << 1) ^ (((word >> 7) & 0x01010101u) * 0x1Bu);
}

// The word with its byte r in the place of byte r - rows.
uint turnedBytes(uint word, uint rows) {
    return (word >> (rows * 8u)) | (word << (32u - rows * 8u));
}

// Byte r becomes 2 times itself and 3 times the next one, with the two others.
uint mixedColumn(uint word) {
    uint doubled = doubledBytes(word);
    return doubled ^ turnedBytes(doubled ^ word, 1u) ^ turnedBytes(word, 2u) ^ turnedBytes(word, 3u);
}

void main() {
    // The same for all invocations, so that the barrier stands in uniform control flow.
    if (round > LAST_ROUND) {
        return;
    }

    uint place = gl_GlobalInvocationID.x;
    uint block = place / COLUMNS;
    bool encrypted = block >= clearBlocks && block < blockCount;
    uint word = 0u;
    if (encrypted) {
        word = state[place];
    }
    columns[gl_LocalInvocationID.x] = substitutedBytes(word);
    barrier();

    if (encrypted) {
        uint column = place % COLUMNS;
        if (round > 0u) {
            word = shiftedRows(gl_LocalInvocationID.x - column, column);
        }
        if (round > 0u && round < LAST_ROUND) {
            word = mixedColumn(word);
        }
        state[place] = word ^ roundKeys[round * COLUMNS + column];
    }
}
