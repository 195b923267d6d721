/* Sums over rows of products of residuals (methods, section 10.3): the small matrices; the loops over rows are in
   _residual_loops.h. Several columns pass over a block of rows together, so that the given functions are fetched once
   for all of them. Variants for processors with AVX2 and AVX-512, chosen at run time; all add in the same order. */
#include "_matrices.h"

#define ROWS_AT_ONCE 128
#define LANES 8           /* sums of every eighth row are kept apart until the end */
#define MOST_OF_Y 6       /* squares, a cube and a product of predictions of y, at most */
#define MOST_OF_X 7       /* the same of x, with a product of both */
#define MOST_BENT 13      /* all of them */
#define MOST_OFF (MOST_OF_Y + MOST_BENT)
#define MOST_TOGETHER 8   /* columns that pass over the rows together */
/* Predictions and pairs of functions that they have together, unless one column has more. */
#define ROWS_TOGETHER(n) ((n) > 1 << 17 ? 14 : 40)
#define MOST_SQUARED 4
#define BENT_LENGTH 0.05
#define LEAST_DIRECTION 1e-6
#define SPREAD_SHARE 1e-8
#define MOST_LEVERAGE 0.9
#define ROUNDING 1e-11    /* what is left of a square of length 1 below this is told by the others */

/* One y and one set of given functions. */
typedef struct {
    const double *basis;    /* (q, n): orthonormal, the constant first */
    const double *leverage; /* (n): sums of their squares */
    const double *y;        /* (n_y, n) */
    int64_t q, n, many;     /* many: rows are enough for cubes and products too */
    int64_t n_y, first_y, n_squares, n_bent;
    int64_t turned;         /* whether bent is orthonormal, and left_y and fitted are without it */
    int64_t step;           /* n, and so many more that rows of what follows begin at lines of the cache */
    double *block;          /* (rows, ROWS_AT_ONCE): what is left of y, the given functions; see in_block */
    double *bent;           /* (MOST_OF_Y, n): squares of predictions of y, or a basis of what the given ones leave */
    double *left_y;         /* (n_y, n) */
    double *fitted;         /* (n): the part of each row's own value in its fit, so far */
    double *first;          /* (n): what is predicted of the first function of y */
    double *of_bent;        /* (MOST_OF_Y, q): products of the squares with the given functions */
    double *lanes;          /* of y */
    double gram[MOST_OF_Y * MOST_OF_Y], cross[MOST_PAIRS * MOST_OF_Y];
    double scale[MOST_OF_Y];                  /* makes what the given functions leave of a square 1 long; 0: nothing */
    double left[MOST_OF_Y * MOST_OF_Y];       /* products of these */
    double inverse[MOST_OF_Y * MOST_OF_Y];    /* (n_bent, n_squares): makes them orthonormal */
    double on_bent[MOST_PAIRS * MOST_OF_Y];   /* (n_y, n_bent): what y had along them */
} given_room;

/* One x. */
typedef struct {
    const double *x;           /* (k, n) */
    int64_t k, first, m, size; /* functions, of which the first ones are tested alone too; squares, new directions */
    double *predicted;         /* (k, n) */
    double *pairs;             /* (k n_y, n): products of residuals */
    double *inverse;           /* (n): 1 over what the fit has left of a row */
    double *along;             /* (k, q) */
    double *weights;           /* (size, wide): of given functions, own squares and bent ones in new directions */
    double *lanes, *sums;      /* products, by lanes and added up */
    int beyond;                /* whether the new directions are beyond the bent ones of y */
    /* What bent functions and new directions take from what is left of x and of y, by rows of MOST_OFF. */
    double x_off[MOST_PAIRS * MOST_OFF], y_off[MOST_PAIRS * MOST_OFF];
    double free[LANES]; /* what the fit has left of all rows */
} column_room;

/* In a block of rows there are, one below the other: what is left of y, the given functions, the squares of x, the bent
   functions, and the new directions. These are the places of each, and the sums of products of the squares with all
   but the last, and of what is left of x with squares and bent functions. */
typedef struct {
    int64_t given, squares, bent, new; /* in a block, and in each of the rows of sums */
    int64_t wide, wide_x;              /* of the rows of sums */
    int64_t of_x, all;                 /* where the sums with what is left of x begin, and end */
} places;

static places places_of(const given_room *o, const column_room *c) {
    places p;
    p.given = o->n_y, p.squares = p.given + o->q, p.bent = p.squares + c->m, p.new = p.wide = p.bent + o->n_bent;
    p.of_x = c->m * p.wide, p.wide_x = c->m + o->n_bent, p.all = p.of_x + c->k * p.wide_x;
    return p;
}

/* What is left of a number of things, in equal shares of at most so many. */
#define SHARE(left, most) (((left) + ((left) + (most) - 1) / (most) - 1) / (((left) + (most) - 1) / (most)))
#if defined(_MSC_VER)
#define BUFFER(name, rows) __declspec(align(64)) double name[(rows) * ROWS_AT_ONCE]
#else
#define BUFFER(name, rows) double name[(rows) * ROWS_AT_ONCE] __attribute__((aligned(64)))
#endif
#define LINES(n) (((n) + 7) / 8 * 8) /* whole lines of the cache */
#define EACH_BLOCK(n) \
    for (int64_t b = 0, length; length = (n) - b < ROWS_AT_ONCE ? (n) - b : ROWS_AT_ONCE, b < (n); b += ROWS_AT_ONCE)

/* Squares and products of predictions of k functions; of_x: with the product of the predictions of x and y. */
static int64_t n_squares(const given_room *o, int64_t k, int of_x) {
    return o->q > 1 ? (k < MOST_SQUARED ? k : MOST_SQUARED) + of_x + (o->many != 0) + (o->many && k > 1) : 0;
}

/* Sums over rows that are kept at once, of y or of a column of k functions, at most. */
static int64_t n_sums(int64_t q, int64_t n_y, int64_t k) {
    const int64_t along = (k > n_y ? k : n_y) * q, pairs = k * n_y * (1 + k * n_y);
    return MOST_OF_X * (n_y + q + MOST_BENT) + (k + n_y) * MOST_BENT + along + pairs;
}

/* Room for the sums and weights of such a column. */
static int64_t own_room(int64_t q, int64_t n_y, int64_t k) {
    return LINES((LANES + 1) * n_sums(q, n_y, k) + k * q + MOST_BENT * (q + MOST_BENT));
}

static void fold(const double *lanes, int64_t n, double *sums) {
    for (int64_t i = 0; i < n; i++, lanes += LANES)
        sums[i] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* The length of a square, 1 over it: 0 if given functions leave too little of it. `own`: its products with them. */
static double scale_of(double whole, const double *own, int64_t q) {
    const double after = whole - squared_length(own, q), before = whole - own[0] * own[0];
    return after > BENT_LENGTH * BENT_LENGTH * (before > 1e-300 ? before : 1e-300) ? 1.0 / sqrt(after) : 0.0;
}

/* What the given functions leave of the squares of y. */
static void put_left(given_room *o) {
    const int64_t m = o->n_squares, q = o->q;
    for (int64_t i = 0; i < m; i++) {
        const double *own = o->of_bent + i * q;
        o->scale[i] = scale_of(o->gram[i * m + i], own, q);
        for (int64_t j = 0; j <= i; j++)
            o->left[i * m + j] = o->left[j * m + i] =
                o->scale[i] * o->scale[j] * (o->gram[i * m + j] - product_of(own, o->of_bent + j * q, q));
    }
}

/* Weights of the squares of y and of the given functions in an orthonormal basis of what these leave of the squares.
   Returns its size; -1 if it has a small direction, of which those of x and y together may leave more. */
static int64_t turn_y(given_room *o, double *of_squares, double *of_basis) {
    const int64_t m = o->n_squares, q = o->q, size = orthonormal(o->left, m, ROUNDING, o->inverse);
    if (squared_length(o->inverse, size * m) * LEAST_DIRECTION >= 1.0) return -1;
    memset(of_basis, 0, sizeof(double) * size * q);
    for (int64_t e = 0; e < size; e++)
        for (int64_t i = 0; i < m; i++) {
            const double w = of_squares[e * m + i] = o->inverse[e * m + i] * o->scale[i];
            for (int64_t k = 0; k < q; k++) of_basis[e * q + k] -= w * o->of_bent[i * q + k];
        }
    for (int64_t i = 0; i < o->n_y; i++)
        for (int64_t e = 0; e < size; e++)
            o->on_bent[i * size + e] = product_of(of_squares + e * m, o->cross + i * m, m);
    return size;
}

/* The same of x, beyond the basis of y. Returns 0 if there may be a direction so small that it is left out, which the
   eigenvectors of all squares decide (see turn_all). */
static int turn_x(const given_room *o, column_room *c) {
    const places p = places_of(o, c);
    const int64_t m = c->m, q = o->q, f = o->n_bent, wide = p.wide - p.given;
    double scale[MOST_OF_X], a[MOST_OF_X * MOST_OF_X], inverse[MOST_OF_X * MOST_OF_X];
    const double *const sums = c->sums + p.given; /* with given functions, squares and bent ones */
    for (int64_t i = 0; i < m; i++) {
        const double *own = sums + i * p.wide;
        scale[i] = scale_of(own[q + i], own, q);
        for (int64_t j = 0; j <= i; j++) {
            const double *other = sums + j * p.wide;
            a[i * m + j] = scale[i] * scale[j]
                           * (own[q + j] - product_of(own, other, q) - product_of(own + q + m, other + q + m, f));
        }
    }
    c->size = orthonormal(a, m, ROUNDING, inverse);
    memset(c->weights, 0, sizeof(double) * c->size * wide);
    double length = squared_length(inverse, c->size * m) + squared_length(o->inverse, f * o->n_squares);
    for (int64_t e = 0; e < c->size; e++) {
        double *const weights = c->weights + e * wide, *const bent = weights + q + m;
        for (int64_t i = 0; i < m; i++) {
            const double w = weights[q + i] = inverse[e * m + i] * scale[i], *own = sums + i * p.wide;
            for (int64_t k = 0; k < q; k++) weights[k] -= w * own[k];
            for (int64_t k = 0; k < f; k++) bent[k] -= w * own[q + m + k];
        }
        /* The inverse of Cholesky's factor of all squares: its length bounds that of their least eigenvalue. */
        for (int64_t j = 0; j < o->n_squares; j++) {
            double across = 0.0;
            for (int64_t k = 0; k < f; k++) across += bent[k] * o->inverse[k * o->n_squares + j];
            length += across * across;
        }
    }
    return length * LEAST_DIRECTION < 1.0;
}

/* Add w times what the given functions leave of a square of y, or of x, to a new direction. */
static void add_square(const given_room *o, const column_room *c, int64_t i, double w, double *weights) {
    const places p = places_of(o, c);
    const int64_t m = o->n_squares, q = o->q;
    const double *own = i < m ? o->of_bent + i * q : c->sums + (i - m) * p.wide + p.given;
    double *const bent = weights + q + c->m;
    if (i < m && o->turned) {
        for (int64_t e = 0; e < o->n_bent; e++)
            bent[e] += w / o->scale[i] * product_of(o->inverse + e * m, o->left + i * m, m);
        return;
    }
    if (i < m) bent[i] = w; else weights[q + i - m] = w;
    for (int64_t k = 0; k < q; k++) weights[k] -= w * own[k];
}

/* The product of a square of x with what the given functions leave of a square of y. */
static double with_left(const given_room *o, const column_room *c, int64_t x, int64_t i) {
    const places p = places_of(o, c);
    const int64_t m = o->n_squares;
    const double *own = c->sums + x * p.wide, *bent = own + p.bent;
    if (!o->turned) return o->scale[i] * (bent[i] - product_of(own + p.given, o->of_bent + i * o->q, o->q));
    double both = 0.0;
    for (int64_t e = 0; e < o->n_bent; e++) both += bent[e] * product_of(o->inverse + e * m, o->left + i * m, m);
    return both;
}

/* The same of the squares of both, by eigenvectors: directions that are almost told by the others are left out. */
static void turn_all(const given_room *o, column_room *c) {
    const places p = places_of(o, c);
    const int64_t m = o->n_squares, q = o->q, wide = p.wide - p.given;
    const double *const sums = c->sums + p.given;
    double left[MOST_BENT * MOST_BENT], vectors[MOST_BENT * MOST_BENT], scale[MOST_BENT];
    int64_t kept[MOST_BENT], n = 0;
    for (int64_t i = 0; i < m + c->m; i++) {
        const double *own = sums + (i < m ? 0 : i - m) * p.wide;
        scale[n] = i < m ? o->scale[i] : scale_of(own[q + i - m], own, q);
        if (scale[n] > 0.0) kept[n++] = i;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const int64_t a = kept[i] - m, b = kept[j] - m;
            const double *own = sums + (a < 0 ? 0 : a) * p.wide;
            left[i * n + j] = left[j * n + i] =
                a < 0   ? o->left[kept[i] * m + kept[j]]
                : b < 0 ? scale[i] * with_left(o, c, a, kept[j])
                        : scale[i] * scale[j] * (own[q + b] - product_of(own, sums + b * p.wide, q));
        }
    eigen(left, vectors, n);
    c->size = 0;
    memset(c->weights, 0, sizeof(double) * MOST_BENT * wide);
    for (int64_t e = 0; e < n; e++) {
        if (left[e * n + e] <= LEAST_DIRECTION) continue;
        double *const weights = c->weights + c->size++ * wide;
        for (int64_t i = 0; i < n; i++)
            add_square(o, c, kept[i], vectors[i * n + e] / sqrt(left[e * n + e]) * scale[i], weights);
    }
}

/* What bent functions and new directions take from what is left of x and of y. The former belong to the latter unless
   these are beyond them; then y has lost them already. */
static void put_off(const given_room *o, column_room *c) {
    const places p = places_of(o, c);
    const int64_t m = c->m, f = o->n_bent, q = o->q;
    const double *const y_on = o->turned ? o->on_bent : o->cross;
    for (int64_t i = 0; i < c->k; i++) {
        const double *own = c->sums + p.of_x + i * p.wide_x;
        double *const off = c->x_off + i * MOST_OFF;
        for (int64_t k = 0; k < f; k++) off[k] = c->beyond ? -own[m + k] : 0.0;
        for (int64_t e = 0; e < c->size; e++)
            off[f + e] = -product_of(c->weights + e * (p.wide - p.given) + q, own, p.wide_x);
    }
    for (int64_t i = 0; i < o->n_y; i++) {
        double *const off = c->y_off + i * MOST_OFF;
        for (int64_t k = 0; k < f; k++) off[k] = !c->beyond && o->turned ? y_on[i * f + k] : 0.0;
        for (int64_t e = 0; e < c->size; e++) {
            const double *w = c->weights + e * (p.wide - p.given) + q;
            double along = c->beyond ? 0.0 : product_of(w + m, y_on + i * f, f);
            for (int64_t s = 0; s < m; s++) {
                const double *own = c->sums + s * p.wide;
                along += w[s] * own[i];
                if (!c->beyond && o->turned) along += w[s] * product_of(own + p.bent, y_on + i * f, f);
            }
            off[f + e] = -along;
        }
    }
}

/* Weights of pairs, by rows of n, that make T squared and its weights of rows: first those of the `some` first pairs,
   n_first of them, then those of all from `from` on. */
typedef struct {
    double rows[2 * MOST_PAIRS * MOST_PAIRS];
    int64_t n_first, from, all;
} pair_weights;

/* Eigenvectors of the spread of k of the pairs, without those that hardly spread. Returns how many there are. */
static int64_t eigen_weights(const double *spread, const int64_t *pairs, int64_t k, int64_t n, double *rows) {
    double a[MOST_PAIRS * MOST_PAIRS], v[MOST_PAIRS * MOST_PAIRS], most = 1e-300;
    int64_t size = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            a[i * k + j] = pairs[i] >= pairs[j] ? spread[pairs[i] * n + pairs[j]] : spread[pairs[j] * n + pairs[i]];
    eigen(a, v, k);
    for (int64_t i = 0; i < k; i++) most = a[i * k + i] > most ? a[i * k + i] : most;
    for (int64_t e = 0; e < k; e++) {
        if (a[e * k + e] <= SPREAD_SHARE * most) continue;
        memset(rows + size * n, 0, sizeof(double) * n);
        for (int64_t i = 0; i < k; i++) rows[size * n + pairs[i]] = v[i * k + e] / sqrt(a[e * k + e]);
        size++;
    }
    return size;
}

/* pairs: all n, the `some` first ones in front. */
static void put_weights(const double *spread, const int64_t *pairs, int64_t some, int64_t n, pair_weights *out) {
    double a[MOST_PAIRS * MOST_PAIRS], w[MOST_PAIRS * MOST_PAIRS], trace = 0.0;
    for (int64_t i = 0; i < n; i++) {
        trace += spread[i * n + i];
        for (int64_t j = 0; j <= i; j++)
            a[i * n + j] = pairs[i] >= pairs[j] ? spread[pairs[i] * n + pairs[j]] : spread[pairs[j] * n + pairs[i]];
    }
    /* Cholesky's factor, where its inverse bounds the share of the least eigenvalue: none is left out. */
    if (orthonormal(a, n, 0.0, w) == n && squared_length(w, n * n) * trace * SPREAD_SHARE < 1.0) {
        for (int64_t e = 0; e < n; e++)
            for (int64_t i = 0; i < n; i++) out->rows[e * n + pairs[i]] = w[e * n + i];
        out->n_first = some < n ? some : 0, out->from = 0, out->all = n;
        return;
    }
    out->n_first = out->from = some < n ? eigen_weights(spread, pairs, some, n, out->rows) : 0;
    out->all = out->from + eigen_weights(spread, pairs, n, n, out->rows + out->from * n);
}

#define TARGETED static
#define NAMED(name) name##_plain
#define AT_ONCE 2
#define TALL 2
#define CHUNKS 2
#define COMBINED 5
#include "_residual_loops.h"
#undef NAMED
#undef TARGETED
#undef AT_ONCE

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGETED static __attribute__((target("avx2")))
#define NAMED(name) name##_wide
#define AT_ONCE 4
#include "_residual_loops.h"
#undef NAMED
#undef TARGETED
#undef AT_ONCE
#undef TALL
#undef CHUNKS
#define TARGETED static __attribute__((target("avx512f")))
#define NAMED(name) name##_widest
#define AT_ONCE 8
#define TALL 5
#define CHUNKS 4
#include "_residual_loops.h"
#else
#define lanes() 0
#define residual_sums_wide residual_sums_plain
#define residual_sums_widest residual_sums_plain
#define given_basis_wide given_basis_plain
#define given_basis_widest given_basis_plain
#endif

static int64_t place_of(const double *number) { return (int64_t)(intptr_t)number; }

/* How many numbers residual_sums needs as room; most: functions of the column that has most of them. */
static int64_t residual_room(int64_t q, int64_t n, int64_t n_y, int64_t most) {
    const int64_t own = most * (1 + n_y) + 1, together = ROWS_TOGETHER(n), rows = own > together ? own : together;
    const int64_t sums = n_sums(q, n_y, most);
    return 8 + (n_y + q + 2 * MOST_BENT) * ROWS_AT_ONCE + LINES(n) * (MOST_OF_Y + n_y + 2 + rows) + LANES * sums
           + LINES(MOST_OF_Y * q) + MOST_TOGETHER * own_room(q, n_y, most) + (n_y + MOST_OF_Y) * q;
}

/* Residual products of each of n_x columns with y; see put_answer. x[i]: where its functions are, one below the
   other. */
static void residual_sums(const double *basis, const double *leverage, int64_t q, int64_t n, int64_t many,
                          const double *y, int64_t n_y, int64_t first_y, const int64_t *x, const int64_t *widths,
                          const int64_t *firsts, int64_t n_x, int64_t most, double *room, double *out) {
    given_room o = {0};
    o.basis = basis, o.leverage = leverage, o.y = y, o.q = q, o.n = n, o.many = many, o.n_y = n_y, o.first_y = first_y;
    o.step = LINES(n);
    room += (64 - (intptr_t)room % 64) % 64 / (int64_t)sizeof(double);
    o.block = room, room += (n_y + q + 2 * MOST_BENT) * ROWS_AT_ONCE;
    o.bent = room, room += MOST_OF_Y * o.step;
    o.left_y = room, room += n_y * o.step;
    o.fitted = room, room += o.step;
    o.first = room, room += o.step;
    o.lanes = room, room += LANES * n_sums(q, n_y, most);
    o.of_bent = room, room += LINES(MOST_OF_Y * q);
    if (lanes() > 1) residual_sums_widest(&o, x, widths, firsts, n_x, room, out);
    else if (lanes()) residual_sums_wide(&o, x, widths, firsts, n_x, room, out);
    else residual_sums_plain(&o, x, widths, firsts, n_x, room, out);
}

/* Orthonormal functions, the constant first, of the functions of n_given columns, and the sums of their squares.
   rows[z]: where those of a column are; weights, of shape (size, functions): of all of them. */
static void given_basis(const int64_t *rows, const int64_t *widths, int64_t n_given, const double *weights,
                        int64_t size, int64_t n, double *out, double *leverage) {
    if (lanes() > 1) given_basis_widest(rows, widths, n_given, weights, size, n, out, leverage);
    else if (lanes()) given_basis_wide(rows, widths, n_given, weights, size, n, out, leverage);
    else given_basis_plain(rows, widths, n_given, weights, size, n, out, leverage);
}
