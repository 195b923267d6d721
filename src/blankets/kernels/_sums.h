/* The sum of n ln n over a table, and its margins: the loops in which most time is spent where strata are many. For the
   usual numbers of levels the compiler sees them as constants, and keeps a stratum in registers. */
#include <math.h>
#include <stdint.h>

#if defined(_MSC_VER)
#define always_inlined static __forceinline
#else
#define always_inlined static inline __attribute__((always_inline))
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

always_inlined int64_t put_strata(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int32_t *y_seen,
                                  const int32_t *size, const int64_t *y_few, const int64_t *y_most,
                                  const uint64_t *y_keys, int64_t few_levels, int64_t width, int64_t *rows,
                                  int64_t *order, int64_t *rarest, uint64_t *keys, double *least, int64_t *movable) {
    int64_t k = 0, moved = 0, low = INT64_MAX, rows_of_low = 1; /* the lowest expected count, as a fraction */
    for (int64_t z = 0; z < n_z; z++) {
        if (y_seen[z] < 2) continue;
        const int32_t *at = counts + z;
        int64_t *r = rows + k * width, seen = 0, few = INT64_MAX, most = y_most[z];
        for (int64_t x = 0; x < n_x; x++) {
            int64_t margin = 0;
            for (int64_t y = 0; y < n_y; y++, at += n_z) margin += *at > 0 ? *at : 0;
            if (n_x <= few_levels) {
                r[x] = margin;
                seen += margin > 0;
            } else if (margin > 0) {
                r[seen++] = margin;
            }
            few = margin > 0 && margin < few ? margin : few;
            most = margin > most ? margin : most;
        }
        if (seen < 2) continue;
        const int64_t sorted = n_x <= few_levels ? n_x : seen <= few_levels ? seen : 0;
        for (int64_t i = 1; i < sorted; i++) {
            for (int64_t j = i; j > 0; j--) {
                const int64_t a = r[j - 1], b = r[j];
                r[j - 1] = a > b ? a : b;
                r[j] = a > b ? b : a;
            }
        }
        uint64_t key = y_keys[z];
        for (int64_t x = 0; x < sorted; x++) {
            key = r[x] > 0 ? (key ^ (uint64_t)r[x]) * 0x9E3779B97F4A7C15u : key;
        }
        keys[k] = sorted ? key : 0;
        if (n_x > few_levels) {
            for (int64_t x = seen; x < n_x; x++) r[x] = 0;
        }
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
                      keys, least, movable)

/* The margins of x in the strata that can vary: see put_margins, which says the same in Python. */
static int64_t margins_of_strata(const int32_t *counts, int64_t n_x, int64_t n_y, int64_t n_z, const int32_t *y_seen,
                                 const int32_t *size, const int64_t *y_few, const int64_t *y_most,
                                 const uint64_t *y_keys, int64_t few_levels, int64_t width, int64_t *rows,
                                 int64_t *order, int64_t *rarest, uint64_t *keys, double *least, int64_t *movable) {
    if (n_x == 2 && n_y == 2) PUT(2, 2);
    if (n_x == 2) PUT(2, n_y);
    if (n_x == 3 && n_y == 3) PUT(3, 3);
    if (n_x == 3) PUT(3, n_y);
    if (n_x == 4) PUT(4, n_y);
    PUT(n_x, n_y);
}
