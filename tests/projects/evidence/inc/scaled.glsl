uint scaled(uint value, uint factor) {
    return STEP * factor * value;
}
