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
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 5; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 46 || s < -46;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -13;
    }
    return x;
}
int stage_1(int x, int n) {
    // Hysteresis.
    bool high = x > 43 + (n > 0 ? 8 : -8);
    bool low = x < -43;
    if (high ^^ low) x = high ? 43 : -43;
    if (STRICT && high || low && n == 35) x -= 8;
    return x;
}
int stage_2(int x, int n) {
    // Median of three.
    int z = source[59];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 15 && (z & 1) == 0 ? n - 29 : n;
}
int stage_3(int x, int n) {
    // Median of three.
    int z = source[17];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 77 && (z & 1) == 0 ? n - 26 : n;
}
int stage_4(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 19 || s < -19;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -21;
    }
    return x;
}
int stage_5(int x, int n) {
    // Hysteresis.
    bool high = x > 60 + (n > 0 ? 7 : -7);
    bool low = x < -60;
    if (high ^^ low) x = high ? 60 : -60;
    if (STRICT && high || low && n == 8) x -= 7;
    return x;
}
int stage_6(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 54) return x - 31; break;
        case 1: return n < 31 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_7(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 18);
    return sum == 5 ? n : sum;
}
int stage_8(int x, int n) {
    // Hysteresis.
    bool high = x > 64 + (n > 0 ? 6 : -6);
    bool low = x < -64;
    if (high ^^ low) x = high ? 64 : -64;
    if (STRICT && high || low && n == 11) x -= 6;
    return x;
}
int stage_9(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 10) return x - 5; break;
        case 1: return n < 5 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_10(int x, int n) {
    // Hysteresis.
    bool high = x > 22 + (n > 0 ? 2 : -2);
    bool low = x < -22;
    if (high ^^ low) x = high ? 22 : -22;
    if (STRICT && high || low && n == 12) x -= 2;
    return x;
}
int stage_11(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 5 && found < 0; ++i) {
        int s = source[(i * 11 + 5) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_12(int x, int n) {
    // Hysteresis.
    bool high = x > 89 + (n > 0 ? 5 : -5);
    bool low = x < -89;
    if (high ^^ low) x = high ? 89 : -89;
    if (STRICT && high || low && n == 38) x -= 5;
    return x;
}
int stage_13(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 4 && found < 0; ++i) {
        int s = source[(i * 39 + 49) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_14(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 11);
    return sum == 5 ? n : sum;
}
int stage_15(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 3 && found < 0; ++i) {
        int s = source[(i * 35 + 41) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_16(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 15 || s < -15;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -25;
    }
    return x;
}
int stage_17(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 6 || s < -6;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -27;
    }
    return x;
}
int stage_18(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-71))) && x != 33 ? m / 2 : m / 3;
}
int stage_19(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 33 || s < -33;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -33;
    }
    return x;
}
int stage_20(int x, int n) {
    // Median of three.
    int z = source[40];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 88 && (z & 1) == 0 ? n - 39 : n;
}
int stage_21(int x, int n) {
    // Dead band with a step.
    if (x > -15 && x < 15) return 0;
    int step = n > 20 || mode == 3 ? 6 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_22(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-10))) && x != 4 ? m / 2 : m / 3;
}
int stage_23(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 5 && found < 0; ++i) {
        int s = source[(i * 37 + 35) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_24(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 7 && found < 0; ++i) {
        int s = source[(i * 6 + 18) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_25(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 32 + 3) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_26(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 5; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 75 || s < -75;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -12;
    }
    return x;
}
int stage_27(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 49 || s < -49;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -37;
    }
    return x;
}
int stage_28(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 3 && found < 0; ++i) {
        int s = source[(i * 9 + 48) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_29(int x, int n) {
    // Median of three.
    int z = source[55];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 49 && (z & 1) == 0 ? n - 33 : n;
}
int stage_30(int x, int n) {
    // Hysteresis.
    bool high = x > 3 + (n > 0 ? 8 : -8);
    bool low = x < -3;
    if (high ^^ low) x = high ? 3 : -3;
    if (STRICT && high || low && n == 18) x -= 8;
    return x;
}
int stage_31(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 87 || s < -87;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -9;
    }
    return x;
}
int stage_32(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 59) return x - 32; break;
        case 1: return n < 32 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 7;
    }
    return x;
}
int stage_33(int x, int n) {
    // Hysteresis.
    bool high = x > 47 + (n > 0 ? 3 : -3);
    bool low = x < -47;
    if (high ^^ low) x = high ? 47 : -47;
    if (STRICT && high || low && n == 24) x -= 3;
    return x;
}
int stage_34(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 3; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 24 || s < -24;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -10;
    }
    return x;
}
int stage_35(int x, int n) {
    // Hysteresis.
    bool high = x > 36 + (n > 0 ? 7 : -7);
    bool low = x < -36;
    if (high ^^ low) x = high ? 36 : -36;
    if (STRICT && high || low && n == 6) x -= 7;
    return x;
}
int stage_36(int x, int n) {
    // Hysteresis.
    bool high = x > 32 + (n > 0 ? 7 : -7);
    bool low = x < -32;
    if (high ^^ low) x = high ? 32 : -32;
    if (STRICT && high || low && n == 8) x -= 7;
    return x;
}
int stage_37(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 49) return x - 8; break;
        case 1: return n < 8 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 7;
    }
    return x;
}
int stage_38(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-32))) && x != 12 ? m / 2 : m / 3;
}
int stage_39(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 2; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 40 || s < -40;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -6;
    }
    return x;
}
int stage_40(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 4 && found < 0; ++i) {
        int s = source[(i * 4 + 60) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_41(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 37 + 24) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_42(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 21);
    return sum == 3 ? n : sum;
}
int stage_43(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 25) return x - 31; break;
        case 1: return n < 31 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_44(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 25 || s < -25;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -26;
    }
    return x;
}
int stage_45(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 3);
    return sum == 4 ? n : sum;
}
int stage_46(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-66))) && x != 5 ? m / 2 : m / 3;
}
int stage_47(int x, int n) {
    // Hysteresis.
    bool high = x > 2 + (n > 0 ? 7 : -7);
    bool low = x < -2;
    if (high ^^ low) x = high ? 2 : -2;
    if (STRICT && high || low && n == 16) x -= 7;
    return x;
}
int stage_48(int x, int n) {
    // Hysteresis.
    bool high = x > 9 + (n > 0 ? 2 : -2);
    bool low = x < -9;
    if (high ^^ low) x = high ? 9 : -9;
    if (STRICT && high || low && n == 5) x -= 2;
    return x;
}
int stage_49(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 77 || s < -77;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -41;
    }
    return x;
}
int stage_50(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 76 || s < -76;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -16;
    }
    return x;
}
int stage_51(int x, int n) {
    // Saturating mix.
    int m = x * 4 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-69))) && x != 8 ? m / 2 : m / 3;
}
int stage_52(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 7 && found < 0; ++i) {
        int s = source[(i * 7 + 37) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_53(int x, int n) {
    // Dead band with a step.
    if (x > -29 && x < 29) return 0;
    int step = n > 52 || mode == 3 ? 7 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_54(int x, int n) {
    // Hysteresis.
    bool high = x > 25 + (n > 0 ? 8 : -8);
    bool low = x < -25;
    if (high ^^ low) x = high ? 25 : -25;
    if (STRICT && high || low && n == 37) x -= 8;
    return x;
}
int stage_55(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 34 + 0) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_56(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 3 && found < 0; ++i) {
        int s = source[(i * 20 + 39) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_57(int x, int n) {
    // Saturating mix.
    int m = x * 8 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-27))) && x != 17 ? m / 2 : m / 3;
}
int stage_58(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 40);
    return sum == 8 ? n : sum;
}
int stage_59(int x, int n) {
    // Dead band with a step.
    if (x > -37 && x < 37) return 0;
    int step = n > 30 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_60(int x, int n) {
    // Hysteresis.
    bool high = x > 5 + (n > 0 ? 7 : -7);
    bool low = x < -5;
    if (high ^^ low) x = high ? 5 : -5;
    if (STRICT && high || low && n == 22) x -= 7;
    return x;
}
int stage_61(int x, int n) {
    // Dead band with a step.
    if (x > -3 && x < 3) return 0;
    int step = n > 67 || mode == 3 ? 2 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_62(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 6; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 88 || s < -88;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -37;
    }
    return x;
}
int stage_63(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 26) return x - 5; break;
        case 1: return n < 5 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 5;
    }
    return x;
}
int stage_64(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-78))) && x != 14 ? m / 2 : m / 3;
}
int stage_65(int x, int n) {
    // Hysteresis.
    bool high = x > 15 + (n > 0 ? 4 : -4);
    bool low = x < -15;
    if (high ^^ low) x = high ? 15 : -15;
    if (STRICT && high || low && n == 8) x -= 4;
    return x;
}
int stage_66(int x, int n) {
    // Hysteresis.
    bool high = x > 29 + (n > 0 ? 4 : -4);
    bool low = x < -29;
    if (high ^^ low) x = high ? 29 : -29;
    if (STRICT && high || low && n == 18) x -= 4;
    return x;
}
int stage_67(int x, int n) {
    // Dead band with a step.
    if (x > -23 && x < 23) return 0;
    int step = n > 70 || mode == 3 ? 5 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_68(int x, int n) {
    // Hysteresis.
    bool high = x > 62 + (n > 0 ? 5 : -5);
    bool low = x < -62;
    if (high ^^ low) x = high ? 62 : -62;
    if (STRICT && high || low && n == 5) x -= 5;
    return x;
}
int stage_69(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 55) return x - 14; break;
        case 1: return n < 14 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_70(int x, int n) {
    // Dead band with a step.
    if (x > -40 && x < 40) return 0;
    int step = n > 21 || mode == 3 ? 2 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_71(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i) {
        int s = source[(i * 21 + 4) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_72(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 84) return x - 8; break;
        case 1: return n < 8 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_73(int x, int n) {
    // Hysteresis.
    bool high = x > 27 + (n > 0 ? 5 : -5);
    bool low = x < -27;
    if (high ^^ low) x = high ? 27 : -27;
    if (STRICT && high || low && n == 9) x -= 5;
    return x;
}
int stage_74(int x, int n) {
    // Dead band with a step.
    if (x > -6 && x < 6) return 0;
    int step = n > 65 || mode == 3 ? 4 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_75(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 53) return x - 15; break;
        case 1: return n < 15 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_76(int x, int n) {
    // Hysteresis.
    bool high = x > 4 + (n > 0 ? 7 : -7);
    bool low = x < -4;
    if (high ^^ low) x = high ? 4 : -4;
    if (STRICT && high || low && n == 25) x -= 7;
    return x;
}
int stage_77(int x, int n) {
    // Dead band with a step.
    if (x > -41 && x < 41) return 0;
    int step = n > 53 || mode == 3 ? 2 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_78(int x, int n) {
    // Dead band with a step.
    if (x > -34 && x < 34) return 0;
    int step = n > 63 || mode == 3 ? 4 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_79(int x, int n) {
    // Dead band with a step.
    if (x > -4 && x < 4) return 0;
    int step = n > 15 || mode == 3 ? 8 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_80(int x, int n) {
    // Dead band with a step.
    if (x > -40 && x < 40) return 0;
    int step = n > 64 || mode == 3 ? 4 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_81(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-44))) && x != 4 ? m / 2 : m / 3;
}
int stage_82(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 31 + 47) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_83(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 8; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 1 || s < -1;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -3;
    }
    return x;
}
int stage_84(int x, int n) {
    // Saturating mix.
    int m = x * 3 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-23))) && x != 2 ? m / 2 : m / 3;
}
int stage_85(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 34);
    return sum == 3 ? n : sum;
}
int stage_86(int x, int n) {
    // Dead band with a step.
    if (x > -27 && x < 27) return 0;
    int step = n > 25 || mode == 3 ? 7 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_87(int x, int n) {
    // Hysteresis.
    bool high = x > 70 + (n > 0 ? 5 : -5);
    bool low = x < -70;
    if (high ^^ low) x = high ? 70 : -70;
    if (STRICT && high || low && n == 20) x -= 5;
    return x;
}
int stage_88(int x, int n) {
    // Dead band with a step.
    if (x > -24 && x < 24) return 0;
    int step = n > 6 || mode == 3 ? 8 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_89(int x, int n) {
    // Dead band with a step.
    if (x > -8 && x < 8) return 0;
    int step = n > 69 || mode == 3 ? 2 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_90(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 12);
    return sum == 3 ? n : sum;
}
int stage_91(int x, int n) {
    // Hysteresis.
    bool high = x > 57 + (n > 0 ? 8 : -8);
    bool low = x < -57;
    if (high ^^ low) x = high ? 57 : -57;
    if (STRICT && high || low && n == 23) x -= 8;
    return x;
}
int stage_92(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 6) return x - 31; break;
        case 1: return n < 31 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_93(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 40);
    return sum == 2 ? n : sum;
}
int stage_94(int x, int n) {
    // Dead band with a step.
    if (x > -41 && x < 41) return 0;
    int step = n > 33 || mode == 3 ? 5 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_95(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 5; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 76 || s < -76;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -24;
    }
    return x;
}
int stage_96(int x, int n) {
    // Saturating mix.
    int m = x * 5 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-18))) && x != 41 ? m / 2 : m / 3;
}
int stage_97(int x, int n) {
    // Median of three.
    int z = source[54];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 4 && (z & 1) == 0 ? n - 41 : n;
}
int stage_98(int x, int n) {
    // Saturating mix.
    int m = x * 3 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-52))) && x != 34 ? m / 2 : m / 3;
}
int stage_99(int x, int n) {
    // Saturating mix.
    int m = x * 3 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-26))) && x != 6 ? m / 2 : m / 3;
}
int stage_100(int x, int n) {
    // Hysteresis.
    bool high = x > 59 + (n > 0 ? 8 : -8);
    bool low = x < -59;
    if (high ^^ low) x = high ? 59 : -59;
    if (STRICT && high || low && n == 15) x -= 8;
    return x;
}
int stage_101(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 17) return x - 12; break;
        case 1: return n < 12 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 2;
    }
    return x;
}
int stage_102(int x, int n) {
    // Dead band with a step.
    if (x > -31 && x < 31) return 0;
    int step = n > 46 || mode == 3 ? 5 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_103(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 56 || s < -56;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -5;
    }
    return x;
}
int stage_104(int x, int n) {
    // Median of three.
    int z = source[2];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 71 && (z & 1) == 0 ? n - 8 : n;
}
int stage_105(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 31);
    return sum == 4 ? n : sum;
}
int stage_106(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 77) return x - 6; break;
        case 1: return n < 6 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 8;
    }
    return x;
}
int stage_107(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 33);
    return sum == 7 ? n : sum;
}
int stage_108(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 33) return x - 21; break;
        case 1: return n < 21 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 7;
    }
    return x;
}
int stage_109(int x, int n) {
    // Dead band with a step.
    if (x > -36 && x < 36) return 0;
    int step = n > 51 || mode == 3 ? 3 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_110(int x, int n) {
    // Saturating mix.
    int m = x * 6 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-57))) && x != 34 ? m / 2 : m / 3;
}
int stage_111(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 2; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 20 || s < -20;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -35;
    }
    return x;
}
int stage_112(int x, int n) {
    // Digit sum until small.
    int sum = x < 0 ? -x : x;
    do {
        int rest = sum, next = 0;
        while (rest > 0) { next += rest % 10; rest /= 10; }
        sum = next;
    } while (sum > 9 && sum != 18);
    return sum == 7 ? n : sum;
}
int stage_113(int x, int n) {
    // Dead band with a step.
    if (x > -3 && x < 3) return 0;
    int step = n > 16 || mode == 3 ? 6 : 1;
    return x > 0 ? x - step : x + step;
}
int stage_114(int x, int n) {
    // Saturating mix.
    int m = x * 8 + n;
    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;
    return all(greaterThan(ivec2(m, n), ivec2(-73))) && x != 15 ? m / 2 : m / 3;
}
int stage_115(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 8 && found < 0; ++i) {
        int s = source[(i * 7 + 29) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_116(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 35) return x - 33; break;
        case 1: return n < 33 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 7;
    }
    return x;
}
int stage_117(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 5 && found < 0; ++i) {
        int s = source[(i * 8 + 15) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
}
int stage_118(int x, int n) {
    // Median of three.
    int z = source[31];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 35 && (z & 1) == 0 ? n - 34 : n;
}
int stage_119(int x, int n) {
    // Monitor with confirmation.
    int count = 0;
    for (int i = 0; i < 7; i++) {
        int s = source[(i + n) & 63];
        bool bad = s > 49 || s < -49;
        if (!bad) { count = 0; continue; }
        if (++count >= 2 && STRICT) return -3;
    }
    return x;
}
int stage_120(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 66) return x - 21; break;
        case 1: return n < 21 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 4;
    }
    return x;
}
int stage_121(int x, int n) {
    // Median of three.
    int z = source[38];
    if (x > n) { int t = x; x = n; n = t; }
    if (n > z) n = z;
    if (x > n) return x;
    return n > 9 && (z & 1) == 0 ? n - 13 : n;
}
int stage_122(int x, int n) {
    // Hysteresis.
    bool high = x > 63 + (n > 0 ? 6 : -6);
    bool low = x < -63;
    if (high ^^ low) x = high ? 63 : -63;
    if (STRICT && high || low && n == 10) x -= 6;
    return x;
}
int stage_123(int x, int n) {
    // One of four laws.
    switch ((x + n) & 3) {
        case 0: if (x > 68) return x - 29; break;
        case 1: return n < 29 && x != 0 ? n : x;
        case 2:
        default: if (!(x == n || mode == 0)) x ^= 3;
    }
    return x;
}
int stage_124(int x, int n) {
    // Bounded search in the samples.
    int found = -1;
    for (int i = 0; i < 4 && found < 0; ++i) {
        int s = source[(i * 16 + 27) & 63];
        if (s == x || s == n && i > 1) found = i;
    }
    return found < 0 ? x : x - found;
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
    target[at] = x + y + mode;
}
