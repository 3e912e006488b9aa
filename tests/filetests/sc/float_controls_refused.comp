//! target vulkan1.2
//! refused execution mode SignedZeroInfNanPreserve 32 (feature shaderSignedZeroInfNanPreserveFloat32, not in sc_features)
#version 450
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = 4) in;
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(set = 0, binding = 0) buffer Values { float values[]; };
void main() {
    values[0] = values[1] * values[2];
}
