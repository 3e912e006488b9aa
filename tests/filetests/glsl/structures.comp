#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
struct Inner { bool on; int n; bvec3 mask; };
struct Outer { Inner inner; Inner list[2]; } shared_default;
struct { int only; } nameless;
const struct Named { int low; int high; } BOUNDS = Named(1, 2);
Outer build(bool on) { return Outer(Inner(on, 1, bvec3(on, !on, true)), Inner[2](Inner(false, 2, bvec3(false)), Inner(true, 3, bvec3(true)))); }
bool flag_of(Inner i) { return i.on; }
void main() {
    Outer o = build(v[0] > 1);
    struct Local { bool b; } local = Local(v[1] > 2);
    bool from_member = o.inner.on, from_list = o.list[1].on, from_local = local.b, from_mask = o.inner.mask.y, from_mask_index = o.inner.mask[2];
    bool from_call = build(v[2] > 3).inner.on, from_function = flag_of(o.list[0]);
    nameless.only = BOUNDS.low;
    if (o.inner.on && o.list[v[3] & 1].n > BOUNDS.high) v[4] = nameless.only;
    o.inner.on = v[5] > 1;
    o.list[v[6] > 0 ? 1 : 0].on = from_member || from_list;
    v[7] = int(from_local) + int(from_mask) + int(from_mask_index) + int(from_call) + int(from_function);
}
// decision: D1 argument "on" conditions=1
// decision: D2 argument "on" conditions=1
// decision: D3 argument "!on" conditions=1
// decision: D4 argument "true" conditions=1 const=constant
// decision: D5 argument "false" conditions=1 const=constant
// decision: D6 argument "false" conditions=1 const=constant
// decision: D7 argument "true" conditions=1 const=constant
// decision: D8 argument "true" conditions=1 const=constant
// decision: D9 return "i.on" conditions=1
// decision: D10 argument "v[0] > 1" conditions=1
// decision: D11 argument "v[1] > 2" conditions=1
// decision: D12 initialiser "o.inner.on" conditions=1
// decision: D13 initialiser "o.list[1].on" conditions=1
// decision: D14 initialiser "local.b" conditions=1
// decision: D15 initialiser "o.inner.mask.y" conditions=1
// decision: D16 initialiser "o.inner.mask[2]" conditions=1
// decision: D17 initialiser "build(v[2] > 3).inner.on" conditions=1
// decision: D18 argument "v[2] > 3" conditions=1
// decision: D19 initialiser "flag_of(o.list[0])" conditions=1
// decision: D20 if "o.inner.on && o.list[v[3] & 1].n > BOUNDS.high" conditions=2
// decision: D21 assignment "v[5] > 1" conditions=1
// decision: D22 ternary "v[6] > 0" conditions=1
// decision: D23 assignment "from_member || from_list" conditions=2
// decision: D24 argument "from_local" conditions=1
// decision: D25 argument "from_mask" conditions=1
// decision: D26 argument "from_mask_index" conditions=1
// decision: D27 argument "from_call" conditions=1
// decision: D28 argument "from_function" conditions=1
