/* The loops of _residuals.h, which includes them once for each kind of processor: a compiler makes wide instructions
   only within functions that are meant for them. */
/* out[i * wide + j] += sum over rows of a[i] * b[j]. */
#if defined(__GNUC__)
TARGETED double NAMED(sum_of)(four v) { return (v[0] + v[2]) + (v[1] + v[3]); }

TARGETED void NAMED(add_inner)(const double *a, int64_t n_a, const double *b, int64_t n_b, int64_t n, int64_t length,
                              double *out, int64_t wide) {
    const int64_t whole = length & ~(int64_t)3;
    for (int64_t i = 0; i < n_a; i += 2) {
        const double *a0 = a + i * n, *a1 = i + 1 < n_a ? a0 + n : a0;
        for (int64_t j = 0; j < n_b; j += 3) {
            const double *b0 = b + j * n, *b1 = j + 1 < n_b ? b0 + n : b0, *b2 = j + 2 < n_b ? b0 + 2 * n : b0;
            four s00 = {0}, s01 = {0}, s02 = {0}, s10 = {0}, s11 = {0}, s12 = {0};
            for (int64_t r = 0; r < whole; r += 4) {
                const four u0 = *(const four *)(a0 + r), u1 = *(const four *)(a1 + r);
                const four v0 = *(const four *)(b0 + r), v1 = *(const four *)(b1 + r), v2 = *(const four *)(b2 + r);
                s00 += u0 * v0, s01 += u0 * v1, s02 += u0 * v2;
                s10 += u1 * v0, s11 += u1 * v1, s12 += u1 * v2;
            }
            double t[6] = {NAMED(sum_of)(s00), NAMED(sum_of)(s01), NAMED(sum_of)(s02), NAMED(sum_of)(s10), NAMED(sum_of)(s11), NAMED(sum_of)(s12)};
            for (int64_t r = whole; r < length; r++) {
                t[0] += a0[r] * b0[r], t[1] += a0[r] * b1[r], t[2] += a0[r] * b2[r];
                t[3] += a1[r] * b0[r], t[4] += a1[r] * b1[r], t[5] += a1[r] * b2[r];
            }
            for (int64_t k = 0; k < 3 && j + k < n_b; k++) {
                out[i * wide + j + k] += t[k];
                if (i + 1 < n_a) out[(i + 1) * wide + j + k] += t[3 + k];
            }
        }
    }
}
#else
TARGETED void NAMED(add_inner)(const double *a, int64_t n_a, const double *b, int64_t n_b, int64_t n, int64_t length,
                              double *out, int64_t wide) {
    for (int64_t i = 0; i < n_a; i++)
        for (int64_t j = 0; j < n_b; j++) {
            double s = 0.0;
            for (int64_t r = 0; r < length; r++) s += a[i * n + r] * b[j * n + r];
            out[i * wide + j] += s;
        }
}
#endif

/* out[i] += sum over k of weights[i, k] * rows[k]. */
TARGETED void NAMED(add_combined)(const double *weights, int64_t wide, int64_t n_out, const double *rows, int64_t n,
                                 int64_t n_rows, int64_t length, double *out, int64_t n_o) {
    for (int64_t i = 0; i < n_out; i++) {
        const double *w = weights + i * wide;
        double *restrict o = out + i * n_o;
        int64_t k = 0;
        for (; k + 4 <= n_rows; k += 4) {
            const double *p = rows + k * n, *q = p + n, *s = q + n, *t = s + n;
            for (int64_t r = 0; r < length; r++)
                o[r] += (w[k] * p[r] + w[k + 1] * q[r]) + (w[k + 2] * s[r] + w[k + 3] * t[r]);
        }
        for (; k < n_rows; k++) {
            const double *p = rows + k * n;
            for (int64_t r = 0; r < length; r++) o[r] += w[k] * p[r];
        }
    }
}

/* Residuals of functions, and squares, a cube and a product of what is predicted of them, from squares[at] on; with the
   product of the first prediction and that of y if there is one. Returns how many squares there are then. */
TARGETED int64_t NAMED(put_side)(residual_room *o, const double *f, int64_t k, double *left, int64_t at, int of_x) {
    const int64_t n = o->n, q = o->q, few = k < MOST_SQUARED ? k : MOST_SQUARED;
    const int64_t product = at + few, cube = product + of_x, both = cube + (o->many != 0);
    memset(o->along, 0, sizeof(double) * k * q);
    for (int64_t b = 0; b < n; b += ROWS_AT_ONCE)
        NAMED(add_inner)(f + b, k, o->basis + b, q, n, n - b < ROWS_AT_ONCE ? n - b : ROWS_AT_ONCE, o->along, q);
    for (int64_t b = 0; b < n; b += ROWS_AT_ONCE) {
        const int64_t length = n - b < ROWS_AT_ONCE ? n - b : ROWS_AT_ONCE;
        for (int64_t i = 0; i < k; i++) memset(left + i * n + b, 0, sizeof(double) * length);
        NAMED(add_combined)(o->along, q, k, o->basis + b, n, q, length, left + b, n);
        double *squares = o->squares + b;
        if (q > 1) {
            const double *p = left + b, *second = p + n, *y = o->first_y + b;
            for (int64_t i = 0; i < few; i++)
                for (int64_t r = 0; r < length; r++) squares[(at + i) * n + r] = p[i * n + r] * p[i * n + r];
            if (of_x)
                for (int64_t r = 0; r < length; r++) squares[product * n + r] = p[r] * y[r];
            else
                memcpy(o->first_y + b, p, sizeof(double) * length);
            if (o->many)
                for (int64_t r = 0; r < length; r++) squares[cube * n + r] = p[r] * p[r] * p[r];
            if (o->many && k > 1)
                for (int64_t r = 0; r < length; r++) squares[both * n + r] = p[r] * second[r];
        }
        for (int64_t i = 0; i < k; i++)
            for (int64_t r = 0; r < length; r++) left[i * n + b + r] = f[i * n + b + r] - left[i * n + b + r];
    }
    return q > 1 ? both + (o->many && k > 1) : at;
}

/* Products of the squares from `from` up to `to` with the basis and with all squares before `to`; of residuals with
   squares. */
TARGETED void NAMED(put_products)(residual_room *o, int64_t from, int64_t to, int64_t k) {
    const int64_t n = o->n, q = o->q, m = to - from;
    memset(o->of_squares + from * q, 0, sizeof(double) * m * q);
    for (int64_t i = from; i < to; i++) memset(o->gram + i * MOST_BENT, 0, sizeof(double) * to);
    for (int64_t i = 0; i < o->n_y; i++) memset(o->cross_y + i * MOST_BENT + from, 0, sizeof(double) * m);
    for (int64_t i = 0; i < k; i++) memset(o->cross_x + i * MOST_BENT, 0, sizeof(double) * to);
    for (int64_t b = 0; b < n; b += ROWS_AT_ONCE) {
        const int64_t length = n - b < ROWS_AT_ONCE ? n - b : ROWS_AT_ONCE;
        const double *squares = o->squares + b;
        NAMED(add_inner)(squares + from * n, m, o->basis + b, q, n, length, o->of_squares + from * q, q);
        NAMED(add_inner)(squares + from * n, m, squares, to, n, length, o->gram + from * MOST_BENT, MOST_BENT);
        NAMED(add_inner)(o->left_y + b, o->n_y, squares + from * n, m, n, length, o->cross_y + from, MOST_BENT);
        NAMED(add_inner)(o->left_x + b, k, squares, to, n, length, o->cross_x, MOST_BENT);
    }
}

/* Weights of squares (in turned, by rows of MOST_BENT) and of the basis (in o->weights) that make an orthonormal basis
   of what the basis leaves of the squares; returns its size. */
TARGETED int64_t NAMED(turn_squares)(residual_room *o, int64_t m, double *turned) {
    double left[MOST_BENT * MOST_BENT], vectors[MOST_BENT * MOST_BENT], scale[MOST_BENT];
    int64_t kept[MOST_BENT], n_kept = 0, size = 0;
    for (int64_t i = 0; i < m; i++) {
        double explained = 0.0;
        const double *own = o->of_squares + i * o->q, whole = o->gram[i * MOST_BENT + i];
        for (int64_t k = 0; k < o->q; k++) explained += own[k] * own[k];
        const double after = whole - explained, before = whole - own[0] * own[0];
        if (after > BENT_LENGTH * BENT_LENGTH * (before > 1e-300 ? before : 1e-300))
            scale[n_kept] = 1.0 / sqrt(after), kept[n_kept++] = i;
    }
    for (int64_t i = 0; i < n_kept; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double *a = o->of_squares + kept[i] * o->q, *b = o->of_squares + kept[j] * o->q;
            double product = o->gram[kept[i] * MOST_BENT + kept[j]];
            for (int64_t k = 0; k < o->q; k++) product -= a[k] * b[k];
            left[i * n_kept + j] = left[j * n_kept + i] = product * scale[i] * scale[j];
        }
    eigen(left, vectors, n_kept);
    for (int64_t e = 0; e < n_kept; e++) {
        const double length = left[e * n_kept + e];
        if (length <= LEAST_DIRECTION) continue;
        double *out = turned + size * MOST_BENT, *of_basis = o->weights + size * o->q;
        memset(out, 0, sizeof(double) * MOST_BENT);
        memset(of_basis, 0, sizeof(double) * o->q);
        for (int64_t i = 0; i < n_kept; i++) {
            const double w = vectors[i * n_kept + e] / sqrt(length) * scale[i];
            out[kept[i]] = w;
            for (int64_t k = 0; k < o->q; k++) of_basis[k] -= w * o->of_squares[kept[i] * o->q + k];
        }
        size++;
    }
    return size;
}

/* T squared of some pairs: the statistic, its degrees of freedom, and the sum of the squared weights of rows. */
TARGETED void NAMED(put_statistic)(residual_room *o, const int64_t *some, int64_t k, int64_t n_pairs,
                                  const double *total, const double *spread, double *out) {
    double a[MOST_PAIRS * MOST_PAIRS], v[MOST_PAIRS * MOST_PAIRS], root[MOST_PAIRS * MOST_PAIRS], most = 0.0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) a[i * k + j] = spread[some[i] * n_pairs + some[j]];
    eigen(a, v, k);
    for (int64_t i = 0; i < k; i++) most = a[i * k + i] > most ? a[i * k + i] : most;
    int64_t size = 0;
    double statistic = 0.0, squares = 0.0;
    for (int64_t e = 0; e < k; e++) {
        if (a[e * k + e] <= SPREAD_SHARE * (most > 1e-300 ? most : 1e-300)) continue;
        double *w = root + size++ * n_pairs, along = 0.0;
        memset(w, 0, sizeof(double) * n_pairs);
        for (int64_t i = 0; i < k; i++) {
            w[some[i]] = v[i * k + e] / sqrt(a[e * k + e]);
            along += w[some[i]] * total[some[i]];
        }
        statistic += along * along;
    }
    double part[MOST_PAIRS * ROWS_AT_ONCE];
    for (int64_t b = 0; b < o->n; b += ROWS_AT_ONCE) {
        const int64_t length = o->n - b < ROWS_AT_ONCE ? o->n - b : ROWS_AT_ONCE;
        double weight[ROWS_AT_ONCE] = {0.0};
        memset(part, 0, sizeof(double) * size * ROWS_AT_ONCE);
        NAMED(add_combined)(root, n_pairs, size, o->pairs + b, o->n, n_pairs, length, part, ROWS_AT_ONCE);
        for (int64_t i = 0; i < size; i++)
            for (int64_t r = 0; r < length; r++) weight[r] += part[i * ROWS_AT_ONCE + r] * part[i * ROWS_AT_ONCE + r];
        for (int64_t r = 0; r < length; r++) weight[r] *= o->inverse[b + r];
        for (int64_t r = 0; r < length; r++) squares += weight[r] * weight[r];
    }
    out[0] = statistic, out[1] = (double)size, out[2] = squares;
}

TARGETED void NAMED(y_side)(residual_room *o, const double *y) {
    o->bent_y = NAMED(put_side)(o, y, o->n_y, o->left_y, 0, 0);
    if (o->bent_y) NAMED(put_products)(o, 0, o->bent_y, 0);
}

/* out: statistic, degrees of freedom and squared weights of all pairs, then of the first ones (0 where these are all),
   and what the fit has left of all rows. */
TARGETED void NAMED(x_side)(residual_room *o, const double *x, int64_t k, int64_t first_x, int64_t first_y,
                           double *out) {
    const int64_t n = o->n, q = o->q, n_y = o->n_y, n_pairs = k * n_y;
    const int64_t m = NAMED(put_side)(o, x, k, o->left_x, o->bent_y, 1);
    double turned[MOST_BENT * MOST_BENT], of_x[MOST_PAIRS * MOST_BENT], of_y[MOST_PAIRS * MOST_BENT];
    int64_t size = 0;
    if (q > 1) {
        NAMED(put_products)(o, o->bent_y, m, k);
        size = NAMED(turn_squares)(o, m, turned);
    }
    for (int64_t e = 0; e < size; e++)
        for (int64_t i = 0; i < k + n_y; i++) {
            const double *cross = i < k ? o->cross_x + i * MOST_BENT : o->cross_y + (i - k) * MOST_BENT;
            double along = 0.0;
            for (int64_t j = 0; j < m; j++) along -= cross[j] * turned[e * MOST_BENT + j];
            if (i < k) of_x[i * MOST_BENT + e] = along; else of_y[(i - k) * MOST_BENT + e] = along;
        }
    double total[MOST_PAIRS] = {0.0}, spread[MOST_PAIRS * MOST_PAIRS] = {0.0}, free = 0.0;
    double more[MOST_BENT * ROWS_AT_ONCE], left[MOST_PAIRS * ROWS_AT_ONCE], other[MOST_PAIRS * ROWS_AT_ONCE];
    double scaled[MOST_PAIRS * ROWS_AT_ONCE], pairs[MOST_PAIRS * ROWS_AT_ONCE], fitted[ROWS_AT_ONCE];
    for (int64_t b = 0; b < n; b += ROWS_AT_ONCE) {
        const int64_t length = n - b < ROWS_AT_ONCE ? n - b : ROWS_AT_ONCE;
        memset(more, 0, sizeof(double) * size * ROWS_AT_ONCE);
        NAMED(add_combined)(o->weights, q, size, o->basis + b, n, q, length, more, ROWS_AT_ONCE);
        NAMED(add_combined)(turned, MOST_BENT, size, o->squares + b, n, m, length, more, ROWS_AT_ONCE);
        memcpy(fitted, o->leverage + b, sizeof(double) * length);
        for (int64_t e = 0; e < size; e++)
            for (int64_t r = 0; r < length; r++) fitted[r] += more[e * ROWS_AT_ONCE + r] * more[e * ROWS_AT_ONCE + r];
        double *inverse = o->inverse + b;
        for (int64_t r = 0; r < length; r++) {
            const double kept = 1.0 - (fitted[r] < MOST_LEVERAGE ? fitted[r] : MOST_LEVERAGE);
            free += kept;
            inverse[r] = 1.0 / kept;
        }
        for (int64_t i = 0; i < k; i++) memcpy(left + i * ROWS_AT_ONCE, o->left_x + i * n + b, sizeof(double) * length);
        for (int64_t i = 0; i < n_y; i++)
            memcpy(other + i * ROWS_AT_ONCE, o->left_y + i * n + b, sizeof(double) * length);
        NAMED(add_combined)(of_x, MOST_BENT, k, more, ROWS_AT_ONCE, size, length, left, ROWS_AT_ONCE);
        NAMED(add_combined)(of_y, MOST_BENT, n_y, more, ROWS_AT_ONCE, size, length, other, ROWS_AT_ONCE);
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < n_y; j++) {
                double *p = pairs + (i * n_y + j) * ROWS_AT_ONCE, *s = scaled + (i * n_y + j) * ROWS_AT_ONCE;
                const double *f = left + i * ROWS_AT_ONCE, *g = other + j * ROWS_AT_ONCE;
                for (int64_t r = 0; r < length; r++) p[r] = f[r] * g[r], s[r] = p[r] * inverse[r];
                memcpy(o->pairs + (i * n_y + j) * n + b, p, sizeof(double) * length);
                double sum = 0.0;
                for (int64_t r = 0; r < length; r++) sum += p[r];
                total[i * n_y + j] += sum;
            }
        NAMED(add_inner)(scaled, n_pairs, pairs, n_pairs, ROWS_AT_ONCE, length, spread, n_pairs);
    }
    int64_t some[MOST_PAIRS], n_some = 0;
    for (int64_t i = 0; i < n_pairs; i++) some[i] = i;
    NAMED(put_statistic)(o, some, n_pairs, n_pairs, total, spread, out);
    for (int64_t i = 0; i < first_x; i++)
        for (int64_t j = 0; j < first_y; j++) some[n_some++] = i * n_y + j;
    out[3] = out[4] = out[5] = 0.0;
    if (n_some < n_pairs) NAMED(put_statistic)(o, some, n_some, n_pairs, total, spread, out + 3);
    out[6] = free;
}
