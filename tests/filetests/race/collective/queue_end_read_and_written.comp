#version 450
//! buffer 0 uint 0 0*8
//! finding data-race 9 10
//! finding data-race 10 10
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Queue { uint end; uint items[]; };
void main() {
    uint at = end;
    end = at + 1;
    if (at > 7) return;
}
