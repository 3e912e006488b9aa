struct Head { unsigned count; };
struct Whole { unsigned count; float rest[]; };
struct Shifted { unsigned count; _Alignas(8) float rest[]; };
struct Integers { unsigned count; int rest[]; };
struct Wide { unsigned count; struct { float value, unused; } rest[]; };
struct Four { unsigned count; float rest[4]; };
