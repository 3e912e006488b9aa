struct Fixed { unsigned first; float rest[4]; };
struct Large { unsigned first; float rest[1000]; };
struct Padded { _Alignas(16) unsigned first; float rest[1]; };
