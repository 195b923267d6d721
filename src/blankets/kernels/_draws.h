/* Permutations within strata, eight of them beside one another, each with random numbers of its own: one number follows
   from the one before it, which takes longer than to use it. A row is drawn by its place among those that are left,
   which are thought to be sorted by columns: a place below the sum of the first columns takes one from this sum. So
   nothing need be moved. */
#include <math.h>
#include <stdint.h>

always_inlined uint64_t xorshift(uint64_t state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^ (state << 17);
}

/* Draw n of the rows that are left: sums are those of the first columns, for each permutation. */
static void draw_plain(uint64_t *states, int64_t *sums, int64_t n_sums, int64_t n, int64_t left) {
    for (; n > 0; n--, left--)
        for (int k = 0; k < DRAWN_AT_ONCE; k++) {
            states[k] = xorshift(states[k]);
            const int64_t place = (int64_t)(((states[k] >> 32) * (uint64_t)left) >> 32);
            for (int64_t j = 0; j < n_sums; j++) sums[DRAWN_AT_ONCE * j + k] -= place < sums[DRAWN_AT_ONCE * j + k];
        }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HALF 4 /* permutations in a register */
#define STEP(s) \
    s = _mm256_xor_si256(s, _mm256_slli_epi64(s, 13)); \
    s = _mm256_xor_si256(s, _mm256_srli_epi64(s, 7)); \
    s = _mm256_xor_si256(s, _mm256_slli_epi64(s, 17));
#define PLACE(s) _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(s, 32), span), 32)

__attribute__((target("avx2"), always_inline)) static inline void draw_some(uint64_t *states, int64_t *sums, int n_sums,
                                                                            int64_t n, int64_t left) {
    __m256i s = _mm256_loadu_si256((const __m256i *)states), t = _mm256_loadu_si256((const __m256i *)(states + HALF));
    __m256i a[3], b[3];
    for (int j = 0; j < n_sums; j++) {
        a[j] = _mm256_loadu_si256((const __m256i *)(sums + DRAWN_AT_ONCE * j));
        b[j] = _mm256_loadu_si256((const __m256i *)(sums + DRAWN_AT_ONCE * j + HALF));
    }
    for (; n > 0; n--, left--) {
        const __m256i span = _mm256_set1_epi64x(left);
        STEP(s)
        STEP(t)
        const __m256i p = PLACE(s), q = PLACE(t);
        for (int j = 0; j < n_sums; j++) {
            a[j] = _mm256_add_epi64(a[j], _mm256_cmpgt_epi64(a[j], p));
            b[j] = _mm256_add_epi64(b[j], _mm256_cmpgt_epi64(b[j], q));
        }
    }
    _mm256_storeu_si256((__m256i *)states, s);
    _mm256_storeu_si256((__m256i *)(states + HALF), t);
    for (int j = 0; j < n_sums; j++) {
        _mm256_storeu_si256((__m256i *)(sums + DRAWN_AT_ONCE * j), a[j]);
        _mm256_storeu_si256((__m256i *)(sums + DRAWN_AT_ONCE * j + HALF), b[j]);
    }
}

__attribute__((target("avx2"))) static void draw_wide(uint64_t *states, int64_t *sums, int64_t n_sums, int64_t n,
                                                      int64_t left) {
    if (n_sums == 1)
        draw_some(states, sums, 1, n, left);
    else if (n_sums == 2)
        draw_some(states, sums, 2, n, left);
    else
        draw_some(states, sums, 3, n, left);
}
#define draw_rows(states, sums, n_sums, n, left) \
    (has_avx2() && n_sums <= 3 ? draw_wide : draw_plain)(states, sums, n_sums, n, left)
#else
#define draw_rows draw_plain
#endif

/* Add the sums of o ln o of a stratum: that of each level of rows but the first is drawn, which keeps what is left. */
always_inlined void draw_stratum(const int64_t *rows, const int64_t *columns, int64_t width, uint64_t *states,
                                 int64_t *sums, int64_t *before, const int64_t *terms, int64_t n_terms, double unit,
                                 int64_t *totals) {
    int64_t n_sums = 0, left = columns[0];
    for (; n_sums + 1 < width && columns[n_sums + 1] > 0; n_sums++) {
        for (int k = 0; k < DRAWN_AT_ONCE; k++) sums[DRAWN_AT_ONCE * n_sums + k] = left;
        left += columns[n_sums + 1];
    }
    for (int64_t i = 1; i <= width; i++) {
        const int64_t n = i < width ? rows[i] : 0;
        for (int64_t m = 0; m < DRAWN_AT_ONCE * n_sums; m++) before[m] = sums[m];
        if (n > 0) draw_rows(states, sums, n_sums, n, left);
        for (int64_t m = 0; m < DRAWN_AT_ONCE * n_sums && n > 0; m++) before[m] -= sums[m];
        for (int k = 0; k < DRAWN_AT_ONCE; k++) {
            int64_t last = 0;
            for (int64_t m = k; m < DRAWN_AT_ONCE * n_sums; m += DRAWN_AT_ONCE) {
                totals[k] += term_of((uint32_t)(before[m] - last), terms, n_terms, unit);
                last = before[m];
            }
            totals[k] += term_of((uint32_t)((n > 0 ? n : left) - last), terms, n_terms, unit);
        }
        if (n == 0) return;
        left -= n;
    }
}

/* Whether more draws would hardly change the decision: see _decided, which says the same in Python. */
static int are_enough(int64_t hits, double expected) {
    const double spread = 2.0 * sqrt(expected);
    return (double)hits > expected + 1.5 + spread || (double)hits < expected - spread;
}

/* See _draw, which says the same in Python. */
static void draw_strata(const int64_t *rows, const int64_t *columns, const int64_t *order, int64_t n, int64_t width,
                        int64_t stride, uint64_t *states, int64_t *sums, int64_t *before, const int64_t *terms,
                        int64_t n_terms, double unit, int64_t observed, int64_t slack, int64_t most, int64_t enough,
                        double level, int64_t *n_hits, int64_t *n_larger, int64_t *n_drawn) {
    int64_t hits = 0, larger = 0, draws = 0, totals[DRAWN_AT_ONCE];
    int go_on = 1;
    while (go_on && draws < most) {
        for (int k = 0; k < DRAWN_AT_ONCE; k++) totals[k] = 0;
        for (int64_t k = 0; k < n; k++)
            draw_stratum(rows + stride * order[k], columns + stride * order[k], width, states, sums, before, terms,
                         n_terms, unit, totals);
        for (int k = 0; k < DRAWN_AT_ONCE && go_on && draws < most; k++) {
            draws++;
            hits += totals[k] >= observed - slack;
            larger += totals[k] > observed + slack;
            go_on = hits < enough && !(level > 0.0 && are_enough(hits, level * (double)draws));
        }
    }
    *n_hits = hits;
    *n_larger = larger;
    *n_drawn = draws;
}
