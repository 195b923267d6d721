/* Sums over rows of products of residuals (methods, section 10.3): the loops over rows, in blocks that stay in the
   first-level cache, and the small matrices between them. One variant for processors with AVX2, chosen at run time;
   both add in the same order. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#define ROWS_AT_ONCE 128
#define MOST_BENT 13  /* squares, cubes and products of predictions, at most */
#define MOST_PAIRS 36 /* pairs of functions of x and y, at most */
#define MOST_SQUARED 4
#define BENT_LENGTH 0.05
#define LEAST_DIRECTION 1e-6
#define SPREAD_SHARE 1e-8
#define MOST_LEVERAGE 0.9

/* One y, one set of given functions, and room for one x. */
typedef struct {
    const double *basis;    /* (q, n): orthonormal, the constant first */
    const double *leverage; /* (n): sums of their squares */
    int64_t q, n, many;     /* many: rows are enough for cubes and products too */
    double *squares;        /* (MOST_BENT, n): those of y first */
    double *left_y;         /* (functions of y, n) */
    double *left_x;         /* (functions of x, n) */
    double *pairs;          /* (pairs, n) */
    double *inverse;        /* (n): 1 over what the fit has left of a row */
    double *first_y;        /* (n): what is predicted of the first function of y */
    double *along;          /* (functions, q) */
    double *of_squares;     /* (MOST_BENT, q): products of squares with the basis */
    double *weights;        /* (MOST_BENT, q) */
    int64_t n_y, bent_y;    /* functions of y, and squares of their predictions */
    double gram[MOST_BENT * MOST_BENT];
    double cross_y[MOST_PAIRS * MOST_BENT], cross_x[MOST_PAIRS * MOST_BENT];
} residual_room;

/* Eigenvalues of a symmetric matrix, in its diagonal, and eigenvectors, columns of v, by Jacobi's rotations. */
static void eigen(double *a, double *v, int64_t n) {
    double all = 0.0;
    for (int64_t i = 0; i < n * n; i++) v[i] = 0.0, all += a[i] * a[i];
    for (int64_t i = 0; i < n; i++) v[i * n + i] = 1.0;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0.0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) off += a[p * n + q] * a[p * n + q];
        if (off <= 1e-30 * all) return;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                const double apq = a[p * n + q];
                if (apq == 0.0) continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                const double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y, a[k * n + q] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k], f = v[k * n + p], g = v[k * n + q];
                    a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
                    v[k * n + p] = c * f - s * g, v[k * n + q] = s * f + c * g;
                }
            }
    }
}

#define NAMED(name) name##_plain
#define TARGETED static
#include "_residual_loops.h"
#undef NAMED
#undef TARGETED

#if defined(__x86_64__) && defined(__GNUC__)
#define NAMED(name) name##_wide
#define TARGETED static __attribute__((target("avx2")))
#include "_residual_loops.h"
#else
#define has_avx2() 0
#define y_side_wide y_side_plain
#define x_side_wide x_side_plain
#endif

/* Residual products of each of n_x columns, the functions of which follow each other in x, with y; see x_side. */
static void residual_sums(const double *basis, const double *leverage, int64_t q, int64_t n, int64_t many,
                          const double *y, int64_t n_y, int64_t first_y, const double *x, const int64_t *widths,
                          const int64_t *firsts, int64_t n_x, double *room, double *out) {
    int64_t most = n_y;
    residual_room o;
    for (int64_t i = 0; i < n_x; i++) most = widths[i] > most ? widths[i] : most;
    o.basis = basis, o.leverage = leverage, o.q = q, o.n = n, o.many = many, o.n_y = n_y;
    o.squares = room, room += MOST_BENT * n;
    o.left_y = room, room += n_y * n;
    o.left_x = room, room += most * n;
    o.pairs = room, room += most * n_y * n;
    o.inverse = room, room += n;
    o.first_y = room, room += n;
    o.along = room, room += most * q;
    o.of_squares = room, room += MOST_BENT * q;
    o.weights = room;
    const int wide = has_avx2();
    if (wide) y_side_wide(&o, y); else y_side_plain(&o, y);
    for (int64_t i = 0; i < n_x; x += widths[i] * n, i++) {
        if (wide) x_side_wide(&o, x, widths[i], firsts[i], first_y, out + 7 * i);
        else x_side_plain(&o, x, widths[i], firsts[i], first_y, out + 7 * i);
    }
}
