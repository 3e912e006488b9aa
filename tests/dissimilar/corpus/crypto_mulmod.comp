#version 450
//! buffer 0 uint 4000000000 123456789 3000000001 0
layout(local_size_x = 1) in;
layout(binding = 0) buffer D { uint a, b, modulus, result; };
void main() {
    uint high, low, carry, borrow;
    umulExtended(a, b, high, low);
    uint sum = uaddCarry(low, modulus, carry);
    uint difference = usubBorrow(high, low, borrow);
    int signed_high, signed_low;
    imulExtended(int(a), int(b), signed_high, signed_low);
    result = high ^ low ^ sum ^ carry ^ difference ^ borrow ^ uint(signed_high);
}
