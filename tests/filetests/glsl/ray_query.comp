#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform accelerationStructureEXT scene;
layout(std430, binding = 1) buffer Out { float depth[]; };
bool occluded(vec3 from, vec3 to) {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, gl_RayFlagsTerminateOnFirstHitEXT, 0xFF, from, 0.01, normalize(to - from), 100.0);
    while (rayQueryProceedEXT(query)) {
        if (rayQueryGetIntersectionTypeEXT(query, false) == gl_RayQueryCandidateIntersectionTriangleEXT) {
            vec2 at = rayQueryGetIntersectionBarycentricsEXT(query, false);
            if (at.x + at.y < 1.0 || rayQueryGetIntersectionFrontFaceEXT(query, false)) rayQueryConfirmIntersectionEXT(query);
        }
    }
    return rayQueryGetIntersectionTypeEXT(query, true) != gl_RayQueryCommittedIntersectionNoneEXT;
}
void main() {
    depth[0] = occluded(vec3(0.0), vec3(depth[1])) ? 1.0 : 0.0;
}
// decision: D1 while "rayQueryProceedEXT(query)" conditions=1
// decision: D2 if "rayQueryGetIntersectionTypeEXT(query, false) == gl_RayQueryCandidateIntersectionTriangleEXT" conditions=1
// decision: D3 if "at.x + at.y < 1.0 || rayQueryGetIntersectionFrontFaceEXT(query, false)" conditions=2
// decision: D4 return "rayQueryGetIntersectionTypeEXT(query, true) != gl_RayQueryCommittedIntersectionNoneEXT" conditions=1
// decision: D5 ternary "occluded(vec3(0.0), vec3(depth[1]))" conditions=1
