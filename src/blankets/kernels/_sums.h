/* The sum of n ln n over a table, and its margins: the loops in which most time is spent where strata are many. For the
   usual numbers of levels the compiler sees them as constants, and keeps a stratum in registers. */
#include <math.h>
#include <stdint.h>

#if defined(_MSC_VER)
#define always_inlined static __forceinline
#define wanted_soon(address) (void)(address)
#else
#define always_inlined static inline __attribute__((always_inline))
#define wanted_soon(address) __builtin_prefetch(address)
#endif

/* n ln n in whole units, from the table where it reaches that far. */
always_inlined int64_t term_of(uint32_t n, const int64_t *terms, int64_t n_terms, double unit) {
    if (n < n_terms) return terms[n];
    return n ? (int64_t)(n * log((double)n) / unit) : 0;
}

always_inlined int64_t strata_sum(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int64_t *terms,
                                  int64_t n_terms, double unit, const int64_t *y_part, const int32_t *y_seen,
                                  int64_t *free) {
    int64_t total = 0, degrees = 0;
    for (int64_t z = 0; z < n_z; z++) {
        const int32_t *at = counts + z;
        int64_t part = y_part[z], seen = -1;
        for (int64_t x = 0; x < n_x; x++) {
            uint32_t margin = 0;
            for (int64_t y = 0; y < n_y; y++, at += n_z) {
                const uint32_t n = (uint32_t)*at;
                margin += n;
                part += term_of(n, terms, n_terms, unit);
            }
            part -= term_of(margin, terms, n_terms, unit);
            seen += margin > 0;
        }
        const int counted = seen > 0 && y_seen[z] > 1;
        total += counted ? part : 0;
        degrees += counted ? seen * (y_seen[z] - 1) : 0;
    }
    *free = degrees;
    return total;
}

#define SUM(x, y) return strata_sum(counts, x, y, n_z, terms, n_terms, unit, y_part, y_seen, free)

/* Half of G in whole units: y_part[z] plus the terms of all cells less those of the margins of x, over the strata in
   which x and y vary; free is set to the degrees of freedom. */
static int64_t sum_of_strata(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int64_t *terms,
                             int64_t n_terms, double unit, const int64_t *y_part, const int32_t *y_seen,
                             int64_t *free) {
    if (n_x == 2 && n_y == 2) SUM(2, 2);
    if (n_x == 3 && n_y == 3) SUM(3, 3);
    if (n_y == 2) SUM(n_x, 2);
    if (n_y == 3) SUM(n_x, 3);
    if (n_y == 4) SUM(n_x, 4);
    SUM(n_x, n_y);
}

#define BESIDE 64 /* strata whose margins are added beside one another */

/* The margins of x, of some strata from the first of the counts on: a few levels with the largest first. */
always_inlined void put_beside(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, int64_t n,
                               int32_t (*margins)[BESIDE]) {
    for (int64_t x = 0; x < n_x; x++) {
        for (int64_t z = 0; z < n; z++) margins[x][z] = 0;
        for (int64_t y = 0; y < n_y; y++, counts += n_z)
            for (int64_t z = 0; z < n; z++) margins[x][z] += counts[z] > 0 ? counts[z] : 0;
    }
    for (int64_t i = 1; i < n_x; i++) {
        for (int64_t j = i; j > 0; j--) {
            for (int64_t z = 0; z < n; z++) {
                const int32_t a = margins[j - 1][z], b = margins[j][z];
                margins[j - 1][z] = a > b ? a : b;
                margins[j][z] = a > b ? b : a;
            }
        }
    }
}

always_inlined int64_t put_strata(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int32_t *y_seen,
                                  const int32_t *size, const int64_t *y_few, const int64_t *y_most,
                                  const uint64_t *y_keys, int64_t few_levels, int64_t width, int64_t *rows,
                                  int64_t *order, int64_t *rarest, uint64_t *keys, double *least, int64_t *movable,
                                  const double *known, int64_t shift) {
    int64_t k = 0, moved = 0, low = INT64_MAX, rows_of_low = 1; /* the lowest expected count, as a fraction */
    int32_t margins[FEW_LEVELS][BESIDE];
    const int is_few = n_x <= FEW_LEVELS && FEW_LEVELS <= few_levels;
    for (int64_t z = 0; z < n_z && n_x > 1; z++) {
        const int64_t here = z % BESIDE;
        if (is_few && here == 0)
            put_beside(counts + z, n_x, n_y, n_z, n_z - z < BESIDE ? n_z - z : BESIDE, margins);
        if (y_seen[z] < 2) continue;
        int64_t *r = rows + k * width, seen = 0, few = INT64_MAX, most = y_most[z];
        uint64_t key = y_keys[z];
        if (is_few) {
            if (margins[1][here] == 0) continue;
            most = margins[0][here] > most ? margins[0][here] : most;
            for (int64_t x = 0; x < n_x; x++) {
                const int64_t margin = r[x] = margins[x][here];
                few = margin > 0 ? margin : few;
                key = margin > 0 ? (key ^ (uint64_t)margin) * 0x9E3779B97F4A7C15u : key;
            }
        } else {
            const int32_t *at = counts + z;
            for (int64_t x = 0; x < n_x; x++) {
                int64_t margin = 0;
                for (int64_t y = 0; y < n_y; y++, at += n_z) margin += *at > 0 ? *at : 0;
                if (margin > 0) r[seen++] = margin;
                few = margin > 0 && margin < few ? margin : few;
                most = margin > most ? margin : most;
            }
            if (seen < 2) continue;
            for (int64_t x = seen; x < n_x; x++) r[x] = 0;
            for (int64_t i = 1; i < seen && seen <= few_levels; i++) {
                for (int64_t j = i; j > 0; j--) {
                    const int64_t a = r[j - 1], b = r[j];
                    r[j - 1] = a > b ? a : b;
                    r[j] = a > b ? b : a;
                }
            }
            for (int64_t x = 0; x < seen; x++) key = (key ^ (uint64_t)r[x]) * 0x9E3779B97F4A7C15u;
            key = seen <= few_levels ? key : 0;
        }
        keys[k] = key;
        wanted_soon(known + 4 * (key >> shift)); /* four numbers for each known stratum */
        rarest[k] = few * y_few[z];
        const int lower = (double)rarest[k] * (double)rows_of_low < (double)low * (double)size[z];
        low = lower ? rarest[k] : low;
        rows_of_low = lower ? size[z] : rows_of_low;
        moved += size[z] - most;
        order[k++] = z;
    }
    *least = k > 0 ? (double)low / (double)rows_of_low : INFINITY;
    *movable = moved;
    return k;
}

#define PUT(x, y)                                                                                                      \
    return put_strata(counts, x, y, n_z, y_seen, size, y_few, y_most, y_keys, few_levels, width, rows, order, rarest,  \
                      keys, least, movable, known, shift)

/* The margins of x in the strata that can vary: see put_margins, which says the same in Python. */
static int64_t margins_of_strata(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int32_t *y_seen,
                                 const int32_t *size, const int64_t *y_few, const int64_t *y_most,
                                 const uint64_t *y_keys, int64_t few_levels, int64_t width, int64_t *rows,
                                 int64_t *order, int64_t *rarest, uint64_t *keys, double *least, int64_t *movable,
                                 const double *known, int64_t shift) {
    if (n_x == 2 && n_y == 2) PUT(2, 2);
    if (n_x == 2) PUT(2, n_y);
    if (n_x == 3 && n_y == 3) PUT(3, 3);
    if (n_x == 3) PUT(3, n_y);
    if (n_x == 4) PUT(4, n_y);
    PUT(n_x, n_y);
}

/* --- mean and variance of G in a small stratum, from tables of its cells; the four degrees beside one another --- */

#define PARTS 5  /* numbers of a cell, and of a margin */
#define CELLS (SMALL + 1) /* margins of a small stratum */
#define MOST_Y 8 /* different margins of y, at most; with more of them nothing is done */

always_inlined void stratum(const int64_t *rows, int64_t n_x, const int64_t *values, const double *times, int64_t n_y,
                          const double *cells, const double *roots, double *moments) {
    const double sign[DEGREES] = {-1.0, 1.0, -1.0, 1.0};
    double left[MOST_Y][DEGREES], root[MOST_Y][DEGREES], by_y[MOST_Y][DEGREES], across[DEGREES] = {0.0};
    double mean = 0.0, variance = 0.0;
    for (int64_t j = 0; j < n_y; j++)
        for (int k = 0; k < DEGREES; k++) {
            root[j][k] = roots[PARTS * values[j] + 1 + k];
            left[j][k] = 1.0 - sign[k] * root[j][k] * root[j][k];
            by_y[j][k] = 0.0;
        }
    for (int64_t i = 0; i < n_x && rows[i] > 0; i++) {
        const double *cell = cells + CELLS * PARTS * rows[i], *own = roots + PARTS * rows[i] + 1;
        double squares[DEGREES] = {0.0}, sums[DEGREES] = {0.0}, of_row = 0.0, alone = 0.0;
        for (int64_t j = 0; j < n_y; j++) {
            const double *p = cell + PARTS * values[j], t = times[j];
            of_row += t * p[0];
            for (int k = 0; k < DEGREES; k++) {
                squares[k] += t * p[k + 1] * p[k + 1] * left[j][k];
                sums[k] += t * p[k + 1] * root[j][k];
                by_y[j][k] += p[k + 1] * own[k];
            }
        }
        for (int k = 0; k < DEGREES; k++) squares[k] += sign[k] * sums[k] * sums[k];
        for (int k = 0; k < DEGREES; k++) alone += squares[k] * (1.0 - sign[k] * own[k] * own[k]);
        for (int k = 0; k < DEGREES; k++) across[k] += sums[k] * own[k];
        mean += of_row;
        variance += alone;
    }
    for (int k = 0; k < DEGREES; k++) variance += across[k] * across[k];
    for (int64_t j = 0; j < n_y; j++)
        for (int k = 0; k < DEGREES; k++) variance += times[j] * sign[k] * left[j][k] * by_y[j][k] * by_y[j][k];
    moments[0] = mean;
    moments[1] = variance;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void stratum_wide(const int64_t *rows, int64_t n_x, const int64_t *values,
                                                         const double *times, int64_t n_y, const double *cells,
                                                         const double *roots, double *moments) {
    stratum(rows, n_x, values, times, n_y, cells, roots, moments);
}
#define wide_strata() has_avx2()
#else
#define wide_strata() 0
#define stratum_wide stratum
#endif

/* Set mean and variance of G of one stratum: its margins of x, the first of them above 0, and the different ones of y,
   with how often each occurs; cells and roots are those of strata of its size. Tells whether that could be done. */
static int64_t moments_of_stratum(const int64_t *rows, int64_t n_x, const int64_t *values, const double *times,
                                  int64_t n_y, const double *cells, const double *roots, double *moments) {
    if (n_y > MOST_Y) return 0;
    if (wide_strata())
        stratum_wide(rows, n_x, values, times, n_y, cells, roots, moments);
    else
        stratum(rows, n_x, values, times, n_y, cells, roots, moments);
    return 1;
}
