// Included once per operator: REDUCE_NAME, REDUCE_STEP and REDUCE_STOP come from the including file.
int REDUCE_NAME(int count) {
    int result = 0;
    for (int i = 0; i < count; ++i) {
        if (REDUCE_STOP(v[i])) break;
        result = REDUCE_STEP(result, v[i]);
    }
    return result;
}
#undef REDUCE_NAME
#undef REDUCE_STEP
#undef REDUCE_STOP
