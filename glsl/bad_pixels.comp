#version 450

// Replaces the bad pixels of a frame, one invocation per pixel.
//
//   frame      pixels of 16 bits                  mask     defects of each pixel, one bit for each kind
//   repaired   the frame without bad pixels       counts   are increased by the pixels that were replaced, and lost
//
// A pixel with a defect of the `kinds` asked for is bad. It becomes the mean of the good ones among the 8 pixels around it;
// those in its own row and column count twice. Where all of them are bad, it is the mean of those around these, and where they
// are, too, the pixel is lost.

#define SIDE 8
#define LARGEST_REACH 2
#define LARGEST_PIXEL 65535u

layout(local_size_x = SIDE, local_size_y = SIDE, local_size_z = 1) in;

layout(set = 0, binding = 0, r16ui) uniform readonly uimage2D frame;
layout(set = 0, binding = 1, r8ui) uniform readonly uimage2D mask;
layout(set = 0, binding = 2, r16ui) uniform writeonly uimage2D repaired;
layout(std430, set = 0, binding = 3) buffer Counts {
    uint replaced;
    uint lost;
};

layout(push_constant) uniform Parameters {
    uint kinds;
    uint lostValue;
};

// Whether a place belongs to the frame and its pixel is good.
bool isGood(ivec2 place, ivec2 size) {
    return place.x >= 0 && place.x < size.x && place.y >= 0 && place.y < size.y
        && (imageLoad(mask, place).x & kinds) == 0u;
}

// Of the good pixels that are at most so many rows and columns away, the sum by weight and the sum of the weights.
uvec2 sumAround(ivec2 centre, int reach, ivec2 size) {
    uvec2 sum = uvec2(0u);
    for (int dy = -reach; dy <= reach; ++dy) {
        for (int dx = -reach; dx <= reach; ++dx) {
            ivec2 place = centre + ivec2(dx, dy);
            if (isGood(place, size)) {
                uint weight = dx == 0 || dy == 0 ? 2u : 1u;
                sum += weight * uvec2(imageLoad(frame, place).x, 1u);
            }
        }
    }
    return sum;
}

void main() {
    ivec2 size = imageSize(frame);
    if (imageSize(mask) != size || imageSize(repaired) != size) {
        return;
    }
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (pixel.x >= size.x || pixel.y >= size.y) {
        return;
    }

    uint value = imageLoad(frame, pixel).x;
    if (!isGood(pixel, size)) {
        uvec2 sum = uvec2(0u);
        // Further away only where nothing nearer is good, so that nothing nearer is in the sum.
        for (int reach = 1; reach <= LARGEST_REACH && sum.y == 0u; ++reach) {
            sum = sumAround(pixel, reach, size);
        }
        if (sum.y == 0u) {
            value = min(lostValue, LARGEST_PIXEL);
            atomicAdd(lost, 1u);
        } else {
            value = (sum.x + sum.y / 2u) / sum.y;
            atomicAdd(replaced, 1u);
        }
    }
    imageStore(repaired, pixel, uvec4(value, 0u, 0u, 0u));
}
