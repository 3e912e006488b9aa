#version 450
//! buffer 0 float 4 1 2 1 3 0 2 0 5
//! buffer 1 float 1 2 3
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[9]; };
layout(binding = 1) buffer B { float b[3]; };
void main() {
    for (int k = 0; k < 3; ++k) {
        int pivot = k;
        for (int r = k + 1; r < 3; ++r) if (abs(a[r * 3 + k]) > abs(a[pivot * 3 + k])) pivot = r;
        if (pivot != k) {
            for (int c = 0; c < 3; ++c) { float t = a[k * 3 + c]; a[k * 3 + c] = a[pivot * 3 + c]; a[pivot * 3 + c] = t; }
            float t = b[k]; b[k] = b[pivot]; b[pivot] = t;
        }
        for (int r = 0; r < 3; ++r) {
            if (r == k) continue;
            float f = a[r * 3 + k] / a[k * 3 + k];
            for (int c = k; c < 3; ++c) a[r * 3 + c] -= f * a[k * 3 + c];
            b[r] -= f * b[k];
        }
    }
    for (int k = 0; k < 3; ++k) b[k] /= a[k * 3 + k];
}
