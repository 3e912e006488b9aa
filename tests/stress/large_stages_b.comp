#version 450
// Written by tests/support/large_kernel.rs: change that file, not this text.
// groups: 2 1 1
// buffer: 0 int 64 random 7 -100 100
// buffer: 1 int 64 zero
// push: {"mode": 1}
layout(local_size_x = 32) in;
layout(constant_id = 0) const bool STRICT = true;
layout(std430, binding = 0) readonly buffer In { int source[]; };
layout(std430, binding = 1) writeonly buffer Out { int target[]; };
layout(push_constant) uniform P { int mode; };
int bounded(int x, int limit) { return x > limit ? limit : x < -limit ? -limit : x; }
int stage_0(int x, int n) {
    // Hysteresis.
    bool high = x > 5 + (n > 0 ? 7 : -7);
    bool low = x < -5;
    if (high ^^ low) x = high ? 5 : -5;
    if (STRICT && high || low && n == 22) x -= 7;
    return x;
}
int stage_1(int x, int n) {
    // Hysteresis.
    bool high = x > 67 + (n > 0 ? 8 : -8);
    bool low = x < -67;
    if (high ^^ low) x = high ? 67 : -67;
    if (STRICT && high || low && n == 21) x -= 8;
    return x;
}
int stage_2(int x, int n) {
    // Hysteresis.
    bool high = x > 65 + (n > 0 ? 7 : -7);
    bool low = x < -65;
    if (high ^^ low) x = high ? 65 : -65;
    if (STRICT && high || low && n == 29) x -= 7;
    return x;
}
int stage_3(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-87))) && x != 10 ? m / 2 : m / 3;
}
int stage_4(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 52 || s < -52;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -29;
    }
    return x;
}
int stage_5(int x, int n) {
    // Median of three.
    int z = source[58];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 5 && (z & 1) == 0 ? n - 3 : n;
}
int stage_6(int x, int n) {
    // Saturating mix.
    int m = x * 7 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-55))) && x != 25 ? m / 2 : m / 3;
}
int stage_7(int x, int n) {
    // Hysteresis.
    bool high = x > 77 + (n > 0 ? 6 : -6);
    bool low = x < -77;
    if (high ^^ low) x = high ? 77 : -77;
    if (STRICT && high || low && n == 10) x -= 6;
    return x;
}
int stage_8(int x, int n) {
    // Hysteresis.
    bool high = x > 14 + (n > 0 ? 7 : -7);
    bool low = x < -14;
    if (high ^^ low) x = high ? 14 : -14;
    if (STRICT && high || low && n == 36) x -= 7;
    return x;
}
int stage_9(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 2 || s < -2;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -34;
    }
    return x;
}
int stage_10(int x, int n) {
    // Median of three.
    int z = source[59];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 86 && (z & 1) == 0 ? n - 13 : n;
}
int stage_11(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 39);
    return sum == 5 ? n : sum;
}
int stage_12(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 22 + 18) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_13(int x, int n) {
    // Hysteresis.
    bool high = x > 31 + (n > 0 ? 5 : -5);
    bool low = x < -31;
    if (high ^^ low) x = high ? 31 : -31;
    if (STRICT && high || low && n == 39) x -= 5;
    return x;
}
int stage_14(int x, int n) {
    // Saturating mix.
    int m = x * 8 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-45))) && x != 34 ? m / 2 : m / 3;
}
int stage_15(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 32);
    return sum == 2 ? n : sum;
}
int stage_16(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 39);
    return sum == 6 ? n : sum;
}
int stage_17(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-15))) && x != 13 ? m / 2 : m / 3;
}
int stage_18(int x, int n) {
    // Hysteresis.
    bool high = x > 50 + (n > 0 ? 2 : -2);
    bool low = x < -50;
    if (high ^^ low) x = high ? 50 : -50;
    if (STRICT && high || low && n == 10) x -= 2;
    return x;
}
int stage_19(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 3; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 11 || s < -11;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -6;
    }
    return x;
}
int stage_20(int x, int n) {
    // Hysteresis.
    bool high = x > 6 + (n > 0 ? 7 : -7);
    bool low = x < -6;
    if (high ^^ low) x = high ? 6 : -6;
    if (STRICT && high || low && n == 11) x -= 7;
    return x;
}
int stage_21(int x, int n) {
    // Median of three.
    int z = source[29];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 1 && (z & 1) == 0 ? n - 25 : n;
}
int stage_22(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 2);
    return sum == 7 ? n : sum;
}
int stage_23(int x, int n) {
    // Hysteresis.
    bool high = x > 25 + (n > 0 ? 8 : -8);
    bool low = x < -25;
    if (high ^^ low) x = high ? 25 : -25;
    if (STRICT && high || low && n == 19) x -= 8;
    return x;
}
int stage_24(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 4 + 63) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_25(int x, int n) {
    // Hysteresis.
    bool high = x > 50 + (n > 0 ? 6 : -6);
    bool low = x < -50;
    if (high ^^ low) x = high ? 50 : -50;
    if (STRICT && high || low && n == 32) x -= 6;
    return x;
}
int stage_26(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 4 && found < 0; ++i) {
        int s = source[(i * 41 + 29) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_27(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 5; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 3 || s < -3;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -41;
    }
    return x;
}
int stage_28(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 35);
    return sum == 6 ? n : sum;
}
int stage_29(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 5);
    return sum == 4 ? n : sum;
}
int stage_30(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 30) return x - 32; break;
        case 1: return n < 32 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_31(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 7 && found < 0; ++i) {
        int s = source[(i * 2 + 9) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_32(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-64))) && x != 40 ? m / 2 : m / 3;
}
int stage_33(int x, int n) {
    // Median of three.
    int z = source[31];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 41 && (z & 1) == 0 ? n - 15 : n;
}
int stage_34(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 31);
    return sum == 2 ? n : sum;
}
int stage_35(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 4 && found < 0; ++i) {
        int s = source[(i * 24 + 17) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_36(int x, int n) {
    // Median of three.
    int z = source[1];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 33 && (z & 1) == 0 ? n - 40 : n;
}
int stage_37(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 32) return x - 26; break;
        case 1: return n < 26 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 5;
    }
    return x;
}
int stage_38(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 10 || s < -10;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -35;
    }
    return x;
}
int stage_39(int x, int n) {
    // Median of three.
    int z = source[46];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 2 && (z & 1) == 0 ? n - 12 : n;
}
int stage_40(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-10))) && x != 12 ? m / 2 : m / 3;
}
int stage_41(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 7);
    return sum == 3 ? n : sum;
}
int stage_42(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 18) return x - 29; break;
        case 1: return n < 29 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 5;
    }
    return x;
}
int stage_43(int x, int n) {
    // Hysteresis.
    bool high = x > 13 + (n > 0 ? 2 : -2);
    bool low = x < -13;
    if (high ^^ low) x = high ? 13 : -13;
    if (STRICT && high || low && n == 19) x -= 2;
    return x;
}
int stage_44(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 81 || s < -81;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -9;
    }
    return x;
}
int stage_45(int x, int n) {
    // Median of three.
    int z = source[31];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 65 && (z & 1) == 0 ? n - 12 : n;
}
int stage_46(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 33) return x - 11; break;
        case 1: return n < 11 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_47(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-41))) && x != 30 ? m / 2 : m / 3;
}
int stage_48(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 66) return x - 40; break;
        case 1: return n < 40 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_49(int x, int n) {
    // Median of three.
    int z = source[47];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 84 && (z & 1) == 0 ? n - 14 : n;
}
int stage_50(int x, int n) {
    // Dead band with a step.
    if (x > -35 && x < 35) return 0;
    int step = n > 53 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_51(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-84))) && x != 10 ? m / 2 : m / 3;
}
int stage_52(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 5 && found < 0; ++i) {
        int s = source[(i * 5 + 29) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_53(int x, int n) {
    // Hysteresis.
    bool high = x > 41 + (n > 0 ? 5 : -5);
    bool low = x < -41;
    if (high ^^ low) x = high ? 41 : -41;
    if (STRICT && high || low && n == 2) x -= 5;
    return x;
}
int stage_54(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 35);
    return sum == 3 ? n : sum;
}
int stage_55(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 58) return x - 25; break;
        case 1: return n < 25 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_56(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 0 || s < -0;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -8;
    }
    return x;
}
int stage_57(int x, int n) {
    // Median of three.
    int z = source[24];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 71 && (z & 1) == 0 ? n - 5 : n;
}
int stage_58(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 56 || s < -56;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -2;
    }
    return x;
}
int stage_59(int x, int n) {
    // Dead band with a step.
    if (x > -14 && x < 14) return 0;
    int step = n > 55 || mode == 3 ? 8 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_60(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 19);
    return sum == 2 ? n : sum;
}
int stage_61(int x, int n) {
    // Hysteresis.
    bool high = x > 62 + (n > 0 ? 8 : -8);
    bool low = x < -62;
    if (high ^^ low) x = high ? 62 : -62;
    if (STRICT && high || low && n == 19) x -= 8;
    return x;
}
int stage_62(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 3 + 41) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_63(int x, int n) {
    // Saturating mix.
    int m = x * 2 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-1))) && x != 31 ? m / 2 : m / 3;
}
int stage_64(int x, int n) {
    // Hysteresis.
    bool high = x > 47 + (n > 0 ? 6 : -6);
    bool low = x < -47;
    if (high ^^ low) x = high ? 47 : -47;
    if (STRICT && high || low && n == 11) x -= 6;
    return x;
}
int stage_65(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-38))) && x != 37 ? m / 2 : m / 3;
}
int stage_66(int x, int n) {
    // Saturating mix.
    int m = x * 4 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-30))) && x != 24 ? m / 2 : m / 3;
}
int stage_67(int x, int n) {
    // Hysteresis.
    bool high = x > 45 + (n > 0 ? 8 : -8);
    bool low = x < -45;
    if (high ^^ low) x = high ? 45 : -45;
    if (STRICT && high || low && n == 41) x -= 8;
    return x;
}
int stage_68(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 6 && found < 0; ++i) {
        int s = source[(i * 17 + 31) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_69(int x, int n) {
    // Dead band with a step.
    if (x > -10 && x < 10) return 0;
    int step = n > 82 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_70(int x, int n) {
    // Dead band with a step.
    if (x > -34 && x < 34) return 0;
    int step = n > 28 || mode == 3 ? 8 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_71(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 11 + 44) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_72(int x, int n) {
    // Dead band with a step.
    if (x > -31 && x < 31) return 0;
    int step = n > 81 || mode == 3 ? 7 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_73(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 37);
    return sum == 7 ? n : sum;
}
int stage_74(int x, int n) {
    // Hysteresis.
    bool high = x > 1 + (n > 0 ? 4 : -4);
    bool low = x < -1;
    if (high ^^ low) x = high ? 1 : -1;
    if (STRICT && high || low && n == 2) x -= 4;
    return x;
}
int stage_75(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 57) return x - 35; break;
        case 1: return n < 35 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_76(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 53) return x - 26; break;
        case 1: return n < 26 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_77(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 60 || s < -60;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -32;
    }
    return x;
}
int stage_78(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 65) return x - 25; break;
        case 1: return n < 25 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 7;
    }
    return x;
}
int stage_79(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-83))) && x != 6 ? m / 2 : m / 3;
}
int stage_80(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 12) return x - 12; break;
        case 1: return n < 12 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_81(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 81) return x - 39; break;
        case 1: return n < 39 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_82(int x, int n) {
    // Hysteresis.
    bool high = x > 86 + (n > 0 ? 3 : -3);
    bool low = x < -86;
    if (high ^^ low) x = high ? 86 : -86;
    if (STRICT && high || low && n == 8) x -= 3;
    return x;
}
int stage_83(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 60) return x - 5; break;
        case 1: return n < 5 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_84(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 3);
    return sum == 3 ? n : sum;
}
int stage_85(int x, int n) {
    // Dead band with a step.
    if (x > -19 && x < 19) return 0;
    int step = n > 24 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_86(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 3 && found < 0; ++i) {
        int s = source[(i * 6 + 40) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_87(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 27) return x - 21; break;
        case 1: return n < 21 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_88(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-43))) && x != 20 ? m / 2 : m / 3;
}
int stage_89(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 38);
    return sum == 6 ? n : sum;
}
int stage_90(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 20);
    return sum == 3 ? n : sum;
}
int stage_91(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 16 + 41) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_92(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 18 || s < -18;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -36;
    }
    return x;
}
int stage_93(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 2; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 67 || s < -67;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -6;
    }
    return x;
}
int stage_94(int x, int n) {
    // Hysteresis.
    bool high = x > 55 + (n > 0 ? 6 : -6);
    bool low = x < -55;
    if (high ^^ low) x = high ? 55 : -55;
    if (STRICT && high || low && n == 14) x -= 6;
    return x;
}
int stage_95(int x, int n) {
    // Median of three.
    int z = source[63];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 39 && (z & 1) == 0 ? n - 26 : n;
}
int stage_96(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 13) return x - 35; break;
        case 1: return n < 35 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_97(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 1 || s < -1;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -37;
    }
    return x;
}
int stage_98(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 42) return x - 21; break;
        case 1: return n < 21 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_99(int x, int n) {
    // Saturating mix.
    int m = x * 7 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-55))) && x != 4 ? m / 2 : m / 3;
}
int stage_100(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 26 || s < -26;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -38;
    }
    return x;
}
int stage_101(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 13);
    return sum == 7 ? n : sum;
}
int stage_102(int x, int n) {
    // Dead band with a step.
    if (x > -7 && x < 7) return 0;
    int step = n > 80 || mode == 3 ? 6 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_103(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 83 || s < -83;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -24;
    }
    return x;
}
int stage_104(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 6 && found < 0; ++i) {
        int s = source[(i * 34 + 59) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_105(int x, int n) {
    // Saturating mix.
    int m = x * 2 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-28))) && x != 28 ? m / 2 : m / 3;
}
int stage_106(int x, int n) {
    // Median of three.
    int z = source[27];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 33 && (z & 1) == 0 ? n - 29 : n;
}
int stage_107(int x, int n) {
    // Saturating mix.
    int m = x * 3 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-51))) && x != 20 ? m / 2 : m / 3;
}
int stage_108(int x, int n) {
    // Median of three.
    int z = source[7];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 27 && (z & 1) == 0 ? n - 9 : n;
}
int stage_109(int x, int n) {
    // Hysteresis.
    bool high = x > 80 + (n > 0 ? 3 : -3);
    bool low = x < -80;
    if (high ^^ low) x = high ? 80 : -80;
    if (STRICT && high || low && n == 6) x -= 3;
    return x;
}
int stage_110(int x, int n) {
    // Dead band with a step.
    if (x > -12 && x < 12) return 0;
    int step = n > 21 || mode == 3 ? 6 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_111(int x, int n) {
    // Saturating mix.
    int m = x * 3 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-0))) && x != 24 ? m / 2 : m / 3;
}
int stage_112(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 17) return x - 16; break;
        case 1: return n < 16 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_113(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 31 + 23) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_114(int x, int n) {
    // Hysteresis.
    bool high = x > 40 + (n > 0 ? 4 : -4);
    bool low = x < -40;
    if (high ^^ low) x = high ? 40 : -40;
    if (STRICT && high || low && n == 22) x -= 4;
    return x;
}
int stage_115(int x, int n) {
    // Dead band with a step.
    if (x > -29 && x < 29) return 0;
    int step = n > 17 || mode == 3 ? 2 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_116(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 24) return x - 33; break;
        case 1: return n < 33 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 3;
    }
    return x;
}
int stage_117(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 41);
    return sum == 5 ? n : sum;
}
int stage_118(int x, int n) {
    // Hysteresis.
    bool high = x > 13 + (n > 0 ? 8 : -8);
    bool low = x < -13;
    if (high ^^ low) x = high ? 13 : -13;
    if (STRICT && high || low && n == 38) x -= 8;
    return x;
}
int stage_119(int x, int n) {
    // Dead band with a step.
    if (x > -29 && x < 29) return 0;
    int step = n > 24 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_120(int x, int n) {
    // Dead band with a step.
    if (x > -41 && x < 41) return 0;
    int step = n > 26 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_121(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 62) return x - 18; break;
        case 1: return n < 18 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 6;
    }
    return x;
}
int stage_122(int x, int n) {
    // Hysteresis.
    bool high = x > 40 + (n > 0 ? 7 : -7);
    bool low = x < -40;
    if (high ^^ low) x = high ? 40 : -40;
    if (STRICT && high || low && n == 13) x -= 7;
    return x;
}
int stage_123(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 2; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 77 || s < -77;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -21;
    }
    return x;
}
int stage_124(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 52 || s < -52;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -11;
    }
    return x;
}
int stage_125(int x, int n) {
    // Hysteresis.
    bool high = x > 34 + (n > 0 ? 6 : -6);
    bool low = x < -34;
    if (high ^^ low) x = high ? 34 : -34;
    if (STRICT && high || low && n == 3) x -= 6;
    return x;
}
int stage_126(int x, int n) {
    // Hysteresis.
    bool high = x > 3 + (n > 0 ? 3 : -3);
    bool low = x < -3;
    if (high ^^ low) x = high ? 3 : -3;
    if (STRICT && high || low && n == 33) x -= 3;
    return x;
}
int stage_127(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 14);
    return sum == 4 ? n : sum;
}
int stage_128(int x, int n) {
    // Median of three.
    int z = source[45];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 23 && (z & 1) == 0 ? n - 16 : n;
}
int stage_129(int x, int n) {
    // Saturating mix.
    int m = x * 4 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-45))) && x != 21 ? m / 2 : m / 3;
}
int stage_130(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 83) return x - 35; break;
        case 1: return n < 35 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_131(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 48 || s < -48;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -24;
    }
    return x;
}
int stage_132(int x, int n) {
    // Median of three.
    int z = source[53];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 54 && (z & 1) == 0 ? n - 36 : n;
}
void group_0(inout int x, inout int y, int at) {
    x = stage_0(x, y);
    y = stage_1(y, x);
    x = bounded(stage_2(x, at), 502);
    x = stage_3(x, y);
    y = stage_4(y, x);
    x = bounded(stage_5(x, at), 505);
    x = stage_6(x, y);
    y = stage_7(y, x);
    x = bounded(stage_8(x, at), 508);
    x = stage_9(x, y);
    y = stage_10(y, x);
    x = bounded(stage_11(x, at), 511);
    x = stage_12(x, y);
    y = stage_13(y, x);
    x = bounded(stage_14(x, at), 514);
    x = stage_15(x, y);
}
void group_1(inout int x, inout int y, int at) {
    y = stage_16(y, x);
    x = bounded(stage_17(x, at), 517);
    x = stage_18(x, y);
    y = stage_19(y, x);
    x = bounded(stage_20(x, at), 520);
    x = stage_21(x, y);
    y = stage_22(y, x);
    x = bounded(stage_23(x, at), 523);
    x = stage_24(x, y);
    y = stage_25(y, x);
    x = bounded(stage_26(x, at), 526);
    x = stage_27(x, y);
    y = stage_28(y, x);
    x = bounded(stage_29(x, at), 529);
    x = stage_30(x, y);
    y = stage_31(y, x);
}
void group_2(inout int x, inout int y, int at) {
    x = bounded(stage_32(x, at), 532);
    x = stage_33(x, y);
    y = stage_34(y, x);
    x = bounded(stage_35(x, at), 535);
    x = stage_36(x, y);
    y = stage_37(y, x);
    x = bounded(stage_38(x, at), 538);
    x = stage_39(x, y);
    y = stage_40(y, x);
    x = bounded(stage_41(x, at), 541);
    x = stage_42(x, y);
    y = stage_43(y, x);
    x = bounded(stage_44(x, at), 544);
    x = stage_45(x, y);
    y = stage_46(y, x);
    x = bounded(stage_47(x, at), 547);
}
void group_3(inout int x, inout int y, int at) {
    x = stage_48(x, y);
    y = stage_49(y, x);
    x = bounded(stage_50(x, at), 550);
    x = stage_51(x, y);
    y = stage_52(y, x);
    x = bounded(stage_53(x, at), 553);
    x = stage_54(x, y);
    y = stage_55(y, x);
    x = bounded(stage_56(x, at), 556);
    x = stage_57(x, y);
    y = stage_58(y, x);
    x = bounded(stage_59(x, at), 559);
    x = stage_60(x, y);
    y = stage_61(y, x);
    x = bounded(stage_62(x, at), 562);
    x = stage_63(x, y);
}
void group_4(inout int x, inout int y, int at) {
    y = stage_64(y, x);
    x = bounded(stage_65(x, at), 565);
    x = stage_66(x, y);
    y = stage_67(y, x);
    x = bounded(stage_68(x, at), 568);
    x = stage_69(x, y);
    y = stage_70(y, x);
    x = bounded(stage_71(x, at), 501);
    x = stage_72(x, y);
    y = stage_73(y, x);
    x = bounded(stage_74(x, at), 504);
    x = stage_75(x, y);
    y = stage_76(y, x);
    x = bounded(stage_77(x, at), 507);
    x = stage_78(x, y);
    y = stage_79(y, x);
}
void group_5(inout int x, inout int y, int at) {
    x = bounded(stage_80(x, at), 510);
    x = stage_81(x, y);
    y = stage_82(y, x);
    x = bounded(stage_83(x, at), 513);
    x = stage_84(x, y);
    y = stage_85(y, x);
    x = bounded(stage_86(x, at), 516);
    x = stage_87(x, y);
    y = stage_88(y, x);
    x = bounded(stage_89(x, at), 519);
    x = stage_90(x, y);
    y = stage_91(y, x);
    x = bounded(stage_92(x, at), 522);
    x = stage_93(x, y);
    y = stage_94(y, x);
    x = bounded(stage_95(x, at), 525);
}
void group_6(inout int x, inout int y, int at) {
    x = stage_96(x, y);
    y = stage_97(y, x);
    x = bounded(stage_98(x, at), 528);
    x = stage_99(x, y);
    y = stage_100(y, x);
    x = bounded(stage_101(x, at), 531);
    x = stage_102(x, y);
    y = stage_103(y, x);
    x = bounded(stage_104(x, at), 534);
    x = stage_105(x, y);
    y = stage_106(y, x);
    x = bounded(stage_107(x, at), 537);
    x = stage_108(x, y);
    y = stage_109(y, x);
    x = bounded(stage_110(x, at), 540);
    x = stage_111(x, y);
}
void group_7(inout int x, inout int y, int at) {
    y = stage_112(y, x);
    x = bounded(stage_113(x, at), 543);
    x = stage_114(x, y);
    y = stage_115(y, x);
    x = bounded(stage_116(x, at), 546);
    x = stage_117(x, y);
    y = stage_118(y, x);
    x = bounded(stage_119(x, at), 549);
    x = stage_120(x, y);
    y = stage_121(y, x);
    x = bounded(stage_122(x, at), 552);
    x = stage_123(x, y);
    y = stage_124(y, x);
    x = bounded(stage_125(x, at), 555);
    x = stage_126(x, y);
    y = stage_127(y, x);
}
void group_8(inout int x, inout int y, int at) {
    x = bounded(stage_128(x, at), 558);
    x = stage_129(x, y);
    y = stage_130(y, x);
    x = bounded(stage_131(x, at), 561);
    x = stage_132(x, y);
}
void main() {
    int at = int(gl_GlobalInvocationID.x), x = source[at], y = source[63 - at];
    group_0(x, y, at);
    group_1(x, y, at);
    group_2(x, y, at);
    group_3(x, y, at);
    group_4(x, y, at);
    group_5(x, y, at);
    group_6(x, y, at);
    group_7(x, y, at);
    group_8(x, y, at);
    target[at] = x + y + mode;
}
