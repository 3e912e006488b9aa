#version 450

// Softmax of rows of class scores in fixed point, and the class that each row is decided for, one workgroup per row.
//
//   scores           rows of `classes` numbers of 1/256 within 16 bits; MASKED stands for a class that is no candidate
//   probabilities    rows of `classes` numbers of 1/32768
//   decisions        per row the most probable class, or NO_CLASS where its probability is below `minimum`
//
// All operations are on integers, so that every device leaves the same bits. A power of e is made a power of 2: the whole
// part of the exponent is a shift, its fraction goes through a polynomial that is exact at both ends.

#define LANES 8
#define MAX_CLASSES 64u
#define MASKED (-32768)
#define LOWEST (-32767)
#define HIGHEST 32767
#define NO_CLASS 0xFFFFFFFFu
#define ONE 32768u
#define LARGEST_SHIFT 31u

// log2(e) in 1/32768: a score times it has 23 bits of fraction.
#define LOG2_E 47274u
#define FRACTION_BITS 23

// 2^-x = 1 - 0.691666 x + 0.231262 x^2 - 0.039597 x^3, in 1/65536
#define LINEAR 45329u
#define SQUARE 15156u
#define CUBIC 2595u

layout(local_size_x = LANES, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Scores { int scores[]; };
layout(std430, set = 0, binding = 1) buffer Probabilities { uint probabilities[]; };
layout(std430, set = 0, binding = 2) buffer Decisions { uint decisions[]; };

layout(push_constant) uniform Parameters {
    uint rows;
    uint classes;
    uint minimum;
};

shared int groupScores[LANES];
shared uint groupClasses[LANES];
shared uint groupSums[LANES];

// A score that was computed beyond 16 bits is the nearest one within them, and no mark.
int usableScore(int score) {
    return score == MASKED ? MASKED : clamp(score, LOWEST, HIGHEST);
}

// Whether one candidate goes before another one: by its score, and of equal ones by its place.
bool precedes(int score, uint place, int otherScore, uint otherPlace) {
    return score > otherScore || score == otherScore && place < otherPlace;
}

// e to the power of score - best in 1/65536.
uint relativePower(int score, int best) {
    uint exponent = uint(best - score) * LOG2_E;
    uint shift = exponent >> FRACTION_BITS;
    if (score == MASKED || shift > LARGEST_SHIFT) {
        return 0u;
    }
    uint fraction = bitfieldExtract(exponent, FRACTION_BITS - 16, 16);
    uint inner = SQUARE - ((CUBIC * fraction) >> 16);
    uint outer = LINEAR - ((inner * fraction) >> 16);
    return (65536u - ((outer * fraction) >> 16)) >> shift;
}

// The part of a sum in 1/32768, rounded to the nearest number; nothing of nothing.
uint probability(uint power, uint sum) {
    return sum == 0u ? 0u : (power * ONE + sum / 2u) / sum;
}

void main() {
    // The same for all invocations of a workgroup, so that all barriers stand in uniform control flow.
    if (gl_WorkGroupID.x >= rows || classes > MAX_CLASSES) {
        return;
    }

    uint lane = gl_LocalInvocationID.x;
    uint first = gl_WorkGroupID.x * classes;
    int best = MASKED;
    uint bestClass = NO_CLASS;
    for (uint candidate = lane; candidate < classes; candidate += LANES) {
        int score = usableScore(scores[first + candidate]);
        if (precedes(score, candidate, best, bestClass)) {
            best = score;
            bestClass = candidate;
        }
    }
    groupScores[lane] = best;
    groupClasses[lane] = bestClass;
    barrier();

    for (uint reach = LANES / 2; reach > 0u; reach /= 2u) {
        uint other = lane + reach;
        if (lane < reach && precedes(groupScores[other], groupClasses[other], groupScores[lane], groupClasses[lane])) {
            groupScores[lane] = groupScores[other];
            groupClasses[lane] = groupClasses[other];
        }
        barrier();
    }

    best = groupScores[0];
    uint sum = 0u;
    for (uint candidate = lane; candidate < classes; candidate += LANES) {
        sum += relativePower(usableScore(scores[first + candidate]), best);
    }
    groupSums[lane] = sum;
    barrier();

    for (uint reach = LANES / 2; reach > 0u; reach /= 2u) {
        if (lane < reach) {
            groupSums[lane] += groupSums[lane + reach];
        }
        barrier();
    }

    sum = groupSums[0];
    for (uint candidate = lane; candidate < classes; candidate += LANES) {
        uint power = relativePower(usableScore(scores[first + candidate]), best);
        probabilities[first + candidate] = probability(power, sum);
    }
    if (lane == 0u) {
        bool undecided = probability(relativePower(best, best), sum) < minimum || sum == 0u;
        decisions[gl_WorkGroupID.x] = undecided ? NO_CLASS : groupClasses[0];
    }
}
