#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { vec4 v[]; };
void main() {
    vec4 a = v[0], b = v[1];
    if (any(lessThan(a, b)) && all(equal(a.xy, b.zw))) v[2] = a;
    if (any(not(greaterThanEqual(a, b))) || !all(bvec2(a.x > b.x, a.y > b.y && a.z > b.z))) v[3] = b;
    bvec4 mask = notEqual(a, b);
    v[4] = mix(a, b, lessThan(a, vec4(1.0)));
    v[5] = mix(a, b, mask);
    v[6] = mix(a, b, bvec4(a.x > 0.0, mask.yzw));
    v[7].x = mix(a.x, b.x, a.w > b.w);
    bool any_set = any(mask), second = mask.y, third = mask[2];
    bvec2 two = bvec2(any_set, second || third);
    mask.x = a.x > 1.0;
    if (mask == bvec4(true) && two != bvec2(false)) v[8] = vec4(mask);
    if (a == b || a.xy != b.xy) v[9] = vec4(two, 1.0, 0.0);
    v[10] = vec4(isnan(a.x) || isinf(b.y) ? 1.0 : 0.0);
}
// decision: D1 if "any(lessThan(a, b)) && all(equal(a.xy, b.zw))" conditions=2
// decision: D2 if "any(not(greaterThanEqual(a, b))) || !all(bvec2(a.x > b.x, a.y > b.y && a.z > b.z))" conditions=2
// decision: D3 argument "a.x > b.x" conditions=1
// decision: D4 argument "a.y > b.y && a.z > b.z" conditions=2
// decision: D5 argument "a.x > 0.0" conditions=1
// decision: D6 argument "a.w > b.w" conditions=1
// decision: D7 initialiser "any(mask)" conditions=1
// decision: D8 initialiser "mask.y" conditions=1
// decision: D9 initialiser "mask[2]" conditions=1
// decision: D10 argument "any_set" conditions=1
// decision: D11 argument "second || third" conditions=2
// decision: D12 assignment "a.x > 1.0" conditions=1
// decision: D13 if "mask == bvec4(true) && two != bvec2(false)" conditions=2
// decision: D14 argument "true" conditions=1 const=constant
// decision: D15 argument "false" conditions=1 const=constant
// decision: D16 if "a == b || a.xy != b.xy" conditions=2
// decision: D17 ternary "isnan(a.x) || isinf(b.y)" conditions=2
