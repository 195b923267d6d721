/* Inner products and combinations of rows, included once for each kind of processor: AT_ONCE numbers are one register,
   TALL rows and four others are multiplied at once, and CHUNKS registers of rows combined into COMBINED ones. */
#if defined(__GNUC__)
typedef double NAMED(numbers) __attribute__((vector_size(8 * AT_ONCE), aligned(8), may_alias));
#define AT(pointer) (*(NAMED(numbers) *)(pointer))
#define HERE(pointer) (*(const NAMED(numbers) *)(pointer))
#if AT_ONCE == 8 /* there are 32 registers; the compiler would fetch a number again each time it is multiplied */
#define IN_REGISTER(numbers) __asm__("" : "+v"(numbers))
#else
#define IN_REGISTER(numbers)
#endif

/* out[i * wide + j] += products of a[i] and b[j], of LANES sums each; t and u are constants. */
TARGETED inline __attribute__((always_inline)) void NAMED(inner_tile)(
    const double *a, int t, int64_t step_a, const double *b, int u, int64_t step_b, int64_t length, double *out,
    int64_t wide) {
    const int64_t whole = length - length % LANES;
    for (int h = 0; h < LANES; h += AT_ONCE) {
        NAMED(numbers) s[TALL][4];
        for (int i = 0; i < t; i++)
            for (int j = 0; j < u; j++) s[i][j] = HERE(out + LANES * (i * wide + j) + h);
        for (int64_t r = h; r < whole; r += LANES) {
            NAMED(numbers) v[4];
            for (int j = 0; j < u; j++) {
                v[j] = HERE(b + j * step_b + r);
                IN_REGISTER(v[j]);
            }
            for (int i = 0; i < t; i++) {
                const NAMED(numbers) w = HERE(a + i * step_a + r);
                for (int j = 0; j < u; j++) s[i][j] += w * v[j];
            }
        }
        for (int i = 0; i < t; i++)
            for (int j = 0; j < u; j++) AT(out + LANES * (i * wide + j) + h) = s[i][j];
    }
    for (int64_t r = whole; r < length; r++)
        for (int i = 0; i < t; i++)
            for (int j = 0; j < u; j++)
                out[LANES * (i * wide + j) + r - whole] += a[i * step_a + r] * b[j * step_b + r];
}

/* The same for any number of them; lower: those with j above i are not needed. */
TARGETED void NAMED(add_inner)(const double *a, int64_t n_a, int64_t step_a, const double *b, int64_t n_b,
                              int64_t step_b, int64_t length, double *out, int64_t wide, int lower) {
#define TILE(t, u) \
    case 4 * t + u: \
        NAMED(inner_tile)(a + i * step_a, t, step_a, b + j * step_b, u, step_b, length, to, wide); \
        break;
    for (int64_t i = 0, t; i < n_a; i += t) {
        t = SHARE(n_a - i, TALL);
        const int64_t stop = lower && i + t < n_b ? i + t : n_b;
        for (int64_t j = 0, u; j < stop; j += u) {
            u = SHARE(stop - j, 4);
            double *to = out + LANES * (i * wide + j);
            switch (4 * t + u) {
                TILE(1, 1) TILE(1, 2) TILE(1, 3) TILE(1, 4) TILE(2, 1) TILE(2, 2) TILE(2, 3) TILE(2, 4)
#if TALL > 2
                TILE(3, 1) TILE(3, 2) TILE(3, 3) TILE(3, 4) TILE(4, 1) TILE(4, 2) TILE(4, 3) TILE(4, 4)
                TILE(5, 1) TILE(5, 2) TILE(5, 3) TILE(5, 4)
#endif
            }
        }
    }
#undef TILE
}

/* out[i] = from[i] + sum over k of weights[i, k] * rows[k], for some registers of rows; t and chunks are constants. */
TARGETED inline __attribute__((always_inline)) void NAMED(combine_tile)(
    const double *weights, int64_t wide, int t, const double *rows, int64_t step, int64_t n_rows, int chunks,
    const double *from, int64_t step_from, double *out, int64_t step_out) {
    NAMED(numbers) s[COMBINED][CHUNKS];
    for (int i = 0; i < t; i++)
        for (int c = 0; c < chunks; c++)
            s[i][c] = from ? HERE(from + i * step_from + c * AT_ONCE) : (NAMED(numbers)){0};
    for (int64_t k = 0; k < n_rows; k++) {
        NAMED(numbers) v[CHUNKS];
        for (int c = 0; c < chunks; c++) {
            v[c] = HERE(rows + k * step + c * AT_ONCE);
            IN_REGISTER(v[c]);
        }
        for (int i = 0; i < t; i++) {
            const double w = weights[i * wide + k];
            for (int c = 0; c < chunks; c++) s[i][c] += w * v[c];
        }
    }
    for (int i = 0; i < t; i++)
        for (int c = 0; c < chunks; c++) AT(out + i * step_out + c * AT_ONCE) = s[i][c];
}

TARGETED void NAMED(combine)(const double *weights, int64_t wide, int64_t n_out, const double *rows, int64_t step,
                            int64_t n_rows, int64_t length, const double *from, int64_t step_from, double *out,
                            int64_t step_out) {
#define TILE(t, chunks) \
    case t: \
        for (; r + chunks * AT_ONCE <= length; r += chunks * AT_ONCE) \
            NAMED(combine_tile)(w, wide, t, rows + r, step, n_rows, chunks, of ? of + r : 0, step_from, to + r, \
                                step_out); \
        break;
    for (int64_t i = 0, t; i < n_out; i += t) {
        t = SHARE(n_out - i, COMBINED);
        const double *w = weights + i * wide, *of = from ? from + i * step_from : 0;
        double *to = out + i * step_out;
        int64_t r = 0;
        switch (t) { TILE(1, CHUNKS) TILE(2, CHUNKS) TILE(3, CHUNKS) TILE(4, CHUNKS) TILE(COMBINED, CHUNKS) }
        switch (t) { TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(COMBINED, 1) }
        for (; r < length; r++)
            for (int64_t j = 0; j < t; j++) {
                double s = of ? of[j * step_from + r] : 0.0;
                for (int64_t k = 0; k < n_rows; k++) s += w[j * wide + k] * rows[k * step + r];
                to[j * step_out + r] = s;
            }
    }
#undef TILE
}

/* out = from + sum of the squares of some rows. */
TARGETED void NAMED(add_squares)(const double *rows, int64_t step, int64_t n_rows, int64_t length, const double *from,
                                double *out) {
    int64_t r = 0;
    for (; r + AT_ONCE <= length; r += AT_ONCE) {
        NAMED(numbers) s = HERE(from + r);
        for (int64_t k = 0; k < n_rows; k++) s += HERE(rows + k * step + r) * HERE(rows + k * step + r);
        AT(out + r) = s;
    }
    for (; r < length; r++) {
        double s = from[r];
        for (int64_t k = 0; k < n_rows; k++) s += rows[k * step + r] * rows[k * step + r];
        out[r] = s;
    }
}
#undef AT
#undef HERE
#undef IN_REGISTER
#else
TARGETED void NAMED(add_inner)(const double *a, int64_t n_a, int64_t step_a, const double *b, int64_t n_b,
                              int64_t step_b, int64_t length, double *out, int64_t wide, int lower) {
    for (int64_t i = 0; i < n_a; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : n_b); j++)
            for (int64_t r = 0; r < length; r++)
                out[LANES * (i * wide + j) + r % LANES] += a[i * step_a + r] * b[j * step_b + r];
}

TARGETED void NAMED(combine)(const double *weights, int64_t wide, int64_t n_out, const double *rows, int64_t step,
                            int64_t n_rows, int64_t length, const double *from, int64_t step_from, double *out,
                            int64_t step_out) {
    for (int64_t i = 0; i < n_out; i++) {
        for (int64_t r = 0; r < length; r++) out[i * step_out + r] = from ? from[i * step_from + r] : 0.0;
        for (int64_t k = 0; k < n_rows; k++)
            for (int64_t r = 0; r < length; r++) out[i * step_out + r] += weights[i * wide + k] * rows[k * step + r];
    }
}

TARGETED void NAMED(add_squares)(const double *rows, int64_t step, int64_t n_rows, int64_t length, const double *from,
                                double *out) {
    for (int64_t r = 0; r < length; r++) {
        out[r] = from[r];
        for (int64_t k = 0; k < n_rows; k++) out[r] += rows[k * step + r] * rows[k * step + r];
    }
}
#endif
