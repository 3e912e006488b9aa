typedef struct { float w, x, y, z; } WFirst;
typedef struct { float x, y, z, w; } WLast;
typedef struct { float r, g, b; float pad; } Place;
typedef struct { float Z, Y, X; float pad; } Backwards;
typedef struct { WLast turn; Place place; } Body;
typedef struct { WFirst turn; Backwards place; } Turned;
