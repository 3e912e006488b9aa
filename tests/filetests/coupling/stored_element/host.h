struct Value { float x, y, z, w; };
