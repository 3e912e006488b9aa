#version 450

// Centres of stars in an image, one workgroup per window of 8 by 8 pixels.
//
//   pixels    height rows of width, of 12 bits          corners   the pixel in the upper left corner of each window
//   stars     what was found in each window
//
// Each pixel becomes the median of the 3 by 3 pixels around it, so that a hot pixel or the hit of a particle is no star. The
// centre is the mean place of the pixels of the window above `threshold`, weighted by what they are above it.

#define SIDE 8
#define LANES 64
#define TILE 10
#define NEIGHBOURS 9
#define MIDDLE 4

#define FULL_SCALE 4095u
#define UNIT 256u

#define NO_STAR 1u
#define SATURATED 2u
#define CUT 4u

layout(local_size_x = SIDE, local_size_y = SIDE, local_size_z = 1) in;

struct Star {
    ivec2 centre; // in 1/256 of a pixel
    uint flux;
    uint flags;
};

layout(std430, set = 0, binding = 0) readonly buffer Pixels { uint pixels[]; };
layout(std430, set = 0, binding = 1) readonly buffer Corners { ivec2 corners[]; };
layout(std430, set = 0, binding = 2) buffer Stars { Star stars[]; };

layout(push_constant) uniform Parameters {
    int width;
    int height;
    uint windows;
    uint threshold;
    uint leastPixels;
};

// The pixels of the window with those around it.
shared uint tile[TILE * TILE];
// Of each pixel: what it is above the threshold, and that times its place in the window.
shared uvec3 moments[LANES];
shared uint brightPixels;
shared uint flags;

// The pixel at a place, at most full scale; beyond an edge the nearest one of the image.
uint pixelAt(ivec2 place) {
    ivec2 nearest = clamp(place, ivec2(0), ivec2(width - 1, height - 1));
    return min(pixels[nearest.y * width + nearest.x], FULL_SCALE);
}

// The median of the 3 by 3 pixels of the tile from a place on.
uint medianFrom(uint start) {
    uint sorted[NEIGHBOURS];
    for (uint number = 0u; number < NEIGHBOURS; ++number) {
        uint value = tile[start + number / 3u * TILE + number % 3u];
        uint hole = number;
        while (hole > 0u && sorted[hole - 1u] > value) {
            sorted[hole] = sorted[hole - 1u];
            --hole;
        }
        sorted[hole] = value;
    }
    return sorted[MIDDLE];
}

void main() {
    // The same for all invocations of a workgroup, so that all barriers stand in uniform control flow.
    if (gl_WorkGroupID.x >= windows || width < 1 || height < 1) {
        return;
    }

    uint lane = gl_LocalInvocationIndex;
    uvec2 cell = gl_LocalInvocationID.xy;
    ivec2 corner = corners[gl_WorkGroupID.x];
    if (lane == 0u) {
        brightPixels = 0u;
        flags = 0u;
    }
    for (uint place = lane; place < TILE * TILE; place += LANES) {
        tile[place] = pixelAt(corner + ivec2(place % TILE, place / TILE) - 1);
    }
    barrier();

    uint value = medianFrom(cell.y * TILE + cell.x);
    ivec2 pixel = corner + ivec2(cell);
    uint above = 0u;
    if (pixel.x >= 0 && pixel.x < width && pixel.y >= 0 && pixel.y < height && value > threshold) {
        above = value - threshold;
        atomicAdd(brightPixels, 1u);
        if (value == FULL_SCALE) {
            atomicOr(flags, SATURATED);
        }
        if (cell.x == 0u || cell.x == SIDE - 1u || cell.y == 0u || cell.y == SIDE - 1u) {
            atomicOr(flags, CUT);
        }
    }
    moments[lane] = above * uvec3(1u, cell);
    barrier();

    for (uint reach = LANES / 2u; reach > 0u; reach /= 2u) {
        if (lane < reach) {
            moments[lane] += moments[lane + reach];
        }
        barrier();
    }

    if (lane == 0u) {
        uint flux = moments[0].x;
        Star star = Star(ivec2(0), 0u, flags | NO_STAR);
        if (flux > 0u && brightPixels >= leastPixels) {
            uvec2 place = (moments[0].yz * UNIT + flux / 2u) / flux;
            star = Star(corner * int(UNIT) + ivec2(place), flux, flags);
        }
        stars[gl_WorkGroupID.x] = star;
    }
}
