/* The loops of _residuals.h over rows, which includes them once for each kind of processor: a compiler makes wide
   instructions only within functions that are meant for them. */
#include "_products.h"

/* Squares of what is predicted of a column, its product with what is predicted of y if there is one, a cube and a
   product of two. */
TARGETED void NAMED(put_squares)(const given_room *o, const double *p, int64_t step_p, int64_t k, const double *y,
                                int64_t length, double *out, int64_t step) {
    const double *second = p + step_p;
    for (int64_t i = 0; i < k && i < MOST_SQUARED; i++, out += step)
        for (int64_t r = 0; r < length; r++) out[r] = p[i * step_p + r] * p[i * step_p + r];
    if (y) {
        for (int64_t r = 0; r < length; r++) out[r] = p[r] * y[r];
        out += step;
    }
    if (o->many) {
        for (int64_t r = 0; r < length; r++) out[r] = p[r] * p[r] * p[r];
        out += step;
    }
    if (o->many && k > 1)
        for (int64_t r = 0; r < length; r++) out[r] = p[r] * second[r];
}

/* Fetch rows of functions into a block, from its row `to` on. */
TARGETED void NAMED(fetch)(const given_room *o, const double *rows, int64_t step, int64_t n_rows, int64_t length,
                          int64_t to) {
    double *out = o->block + to * ROWS_AT_ONCE;
    for (int64_t k = 0; k < n_rows; k++, out += ROWS_AT_ONCE)
        for (int64_t r = 0; r < length; r++) out[r] = rows[k * step + r];
}

TARGETED void NAMED(add_sum)(const double *a, int64_t length, double *sum) {
    BUFFER(ones, 1);
    for (int64_t r = 0; r < length; r++) ones[r] = 1.0;
    NAMED(add_inner)(a, 1, 0, ones, 1, 0, length, sum, 1, 0);
}

/* What is left of y, and squares of what is predicted of it; their products. */
TARGETED void NAMED(predict_y)(given_room *o, double *along) {
    const int64_t n = o->n, step = o->step, q = o->q, m = o->n_bent;
    double *const of_bent = o->lanes, *const gram = of_bent + LANES * m * q, *const cross = gram + LANES * m * m;
    BUFFER(predicted, MOST_PAIRS);
    memset(o->lanes, 0, sizeof(double) * LANES * o->n_y * q);
    EACH_BLOCK(n) {
        NAMED(fetch)(o, o->basis + b, n, q, length, 0);
        NAMED(add_inner)(o->y + b, o->n_y, n, o->block, q, ROWS_AT_ONCE, length, o->lanes, q, 0);
    }
    fold(o->lanes, o->n_y * q, along);
    memset(o->lanes, 0, sizeof(double) * LANES * m * (q + m + o->n_y));
    EACH_BLOCK(n) {
        NAMED(fetch)(o, o->basis + b, n, q, length, 0);
        NAMED(combine)(along, q, o->n_y, o->block, ROWS_AT_ONCE, q, length, 0, 0, predicted, ROWS_AT_ONCE);
        for (int64_t r = 0; r < length; r++) o->first[b + r] = predicted[r];
        for (int64_t i = 0; i < o->n_y; i++)
            for (int64_t r = 0; r < length; r++)
                o->left_y[i * step + b + r] = o->y[i * n + b + r] - predicted[i * ROWS_AT_ONCE + r];
        if (!m) continue;
        NAMED(put_squares)(o, predicted, ROWS_AT_ONCE, o->n_y, 0, length, o->bent + b, step);
        NAMED(add_inner)(o->bent + b, m, step, o->block, q, ROWS_AT_ONCE, length, of_bent, q, 0);
        NAMED(add_inner)(o->bent + b, m, step, o->bent + b, m, step, length, gram, m, 1);
        NAMED(add_inner)(o->left_y + b, o->n_y, step, o->bent + b, m, step, length, cross, m, 0);
    }
    fold(of_bent, m * q, o->of_bent), fold(gram, m * m, o->gram), fold(cross, o->n_y * m, o->cross);
}

/* Make the squares of y an orthonormal basis of what the given functions leave of them, and take it out of y, if that
   can be done without the squares of x. */
TARGETED void NAMED(y_side)(given_room *o, double *room) {
    const int64_t n = o->n, step = o->step, q = o->q, m = o->n_squares = o->n_bent = n_squares(o, o->n_y, 0);
    double weights[MOST_OF_Y * MOST_OF_Y], off[MOST_PAIRS * MOST_OF_Y];
    BUFFER(made, MOST_OF_Y);
    NAMED(predict_y)(o, room);
    put_left(o);
    const int64_t size = turn_y(o, weights, room);
    o->turned = size >= 0;
    if (o->turned) o->n_bent = size;
    for (int64_t i = 0; i < o->n_y * size; i++) off[i] = -o->on_bent[i];
    if (size > 0) EACH_BLOCK(n) {
        NAMED(fetch)(o, o->basis + b, n, q, length, 0);
        NAMED(combine)(weights, m, size, o->bent + b, step, m, length, 0, 0, made, ROWS_AT_ONCE);
        NAMED(combine)(room, q, size, o->block, ROWS_AT_ONCE, q, length, made, ROWS_AT_ONCE, made, ROWS_AT_ONCE);
        NAMED(combine)(off, size, o->n_y, made, ROWS_AT_ONCE, size, length, o->left_y + b, step, o->left_y + b, step);
        NAMED(add_squares)(made, ROWS_AT_ONCE, size, length, o->leverage + b, o->fitted + b);
        for (int64_t e = 0; e < size; e++)
            for (int64_t r = 0; r < length; r++) o->bent[e * step + b + r] = made[e * ROWS_AT_ONCE + r];
    }
}

/* Put the squares of x and the bent functions into a block that has what is left of y and the given functions. */
TARGETED void NAMED(put_own)(const given_room *o, const column_room *c, int64_t b, int64_t length) {
    const places p = places_of(o, c);
    NAMED(put_squares)(o, c->predicted + b, o->step, c->k, o->first + b, length, o->block + p.squares * ROWS_AT_ONCE,
                      ROWS_AT_ONCE);
    NAMED(fetch)(o, o->bent + b, o->step, o->n_bent, length, p.bent);
}

/* What is predicted of x, and products of the squares of that. */
TARGETED void NAMED(predict_x)(const given_room *o, const column_room *c, int64_t b, int64_t length) {
    const places p = places_of(o, c);
    const int64_t n = o->n, step = o->step, k = c->k;
    const double *const given = o->block + p.given * ROWS_AT_ONCE, *const squares = o->block + p.squares * ROWS_AT_ONCE;
    double *const predicted = c->predicted + b;
    BUFFER(left, MOST_PAIRS);
    NAMED(combine)(c->along, o->q, k, given, ROWS_AT_ONCE, o->q, length, 0, 0, predicted, step);
    if (!c->m) return;
    NAMED(put_own)(o, c, b, length);
    for (int64_t i = 0; i < k; i++)
        for (int64_t r = 0; r < length; r++) left[i * ROWS_AT_ONCE + r] = c->x[i * n + b + r] - predicted[i * step + r];
    NAMED(add_inner)(squares, c->m, ROWS_AT_ONCE, o->block, p.wide, ROWS_AT_ONCE, length, c->lanes, p.wide, 0);
    NAMED(add_inner)(left, k, ROWS_AT_ONCE, squares, p.wide_x, ROWS_AT_ONCE, length, c->lanes + LANES * p.of_x,
                    p.wide_x, 0);
}

/* The new directions; what they and the bent ones leave of both, and of each row. */
TARGETED void NAMED(take_out)(const given_room *o, const column_room *c, int64_t b, int64_t length, double *left,
                             double *other, double *fitted) {
    const places p = places_of(o, c);
    const int64_t f = o->n_bent;
    double *const new = o->block + p.new * ROWS_AT_ONCE;
    const double *const before = (c->beyond && f ? o->fitted : o->leverage) + b;
    if (c->m) {
        NAMED(put_own)(o, c, b, length);
        NAMED(combine)(c->weights, p.wide - p.given, c->size, o->block + p.given * ROWS_AT_ONCE, ROWS_AT_ONCE,
                      p.wide - p.given, length, 0, 0, new, ROWS_AT_ONCE);
    }
    NAMED(combine)(c->x_off, MOST_OFF, c->k, new - f * ROWS_AT_ONCE, ROWS_AT_ONCE, f + c->size, length, left,
                  ROWS_AT_ONCE, left, ROWS_AT_ONCE);
    NAMED(combine)(c->y_off, MOST_OFF, o->n_y, new - f * ROWS_AT_ONCE, ROWS_AT_ONCE, f + c->size, length, o->block,
                  ROWS_AT_ONCE, other, ROWS_AT_ONCE);
    NAMED(add_squares)(new, ROWS_AT_ONCE, c->size, length, before, fitted);
}

/* The products of all pairs of what is left of both. */
TARGETED void NAMED(multiply)(const given_room *o, column_room *c, int64_t b, int64_t length) {
    const int64_t n = o->n, step = o->step, k = c->k, n_y = o->n_y, n_pairs = k * n_y;
    BUFFER(left, MOST_PAIRS);
    BUFFER(other, MOST_PAIRS);
    BUFFER(part, MOST_PAIRS);
    BUFFER(kept, 1);
    double *const inverse = c->inverse + b;
    for (int64_t i = 0; i < k; i++)
        for (int64_t r = 0; r < length; r++)
            left[i * ROWS_AT_ONCE + r] = c->x[i * n + b + r] - c->predicted[i * step + b + r];
    NAMED(take_out)(o, c, b, length, left, other, kept);
    for (int64_t r = 0; r < length; r++) {
        kept[r] = 1.0 - (kept[r] < MOST_LEVERAGE ? kept[r] : MOST_LEVERAGE);
        inverse[r] = 1.0 / kept[r];
    }
    NAMED(add_sum)(kept, length, c->free);
    NAMED(add_inner)(left, k, ROWS_AT_ONCE, other, n_y, ROWS_AT_ONCE, length, c->lanes, n_y, 0);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < n_y; j++) {
            double *const pair = c->pairs + (i * n_y + j) * step + b;
            double *const scaled = part + (i * n_y + j) * ROWS_AT_ONCE;
            const double *const f = left + i * ROWS_AT_ONCE, *const g = other + j * ROWS_AT_ONCE;
            for (int64_t r = 0; r < length; r++) pair[r] = f[r] * g[r], scaled[r] = pair[r] * inverse[r];
        }
    NAMED(add_inner)(part, n_pairs, ROWS_AT_ONCE, c->pairs + b, n_pairs, step, length, c->lanes + LANES * n_pairs,
                    n_pairs, 1);
}

/* out: T squared, its degrees of freedom and the sum of the squared weights of rows, of all pairs, then of the first
   ones (0 where these are all), and what the fit has left of all rows. */
TARGETED void NAMED(put_answer)(const given_room *o, const column_room *c, double *out) {
    const int64_t n_y = o->n_y, n_pairs = c->k * n_y;
    int64_t pairs[MOST_PAIRS], some = 0, rest = c->first * o->first_y;
    for (int64_t i = 0; i < c->k; i++)
        for (int64_t j = 0; j < n_y; j++) pairs[i < c->first && j < o->first_y ? some++ : rest++] = i * n_y + j;
    pair_weights w;
    put_weights(c->sums + n_pairs, pairs, some, n_pairs, &w);
    memset(out, 0, sizeof(double) * 6);
    for (int64_t e = 0; e < w.all; e++) {
        const double along = product_of(w.rows + e * n_pairs, c->sums, n_pairs);
        if (e < w.n_first) out[3] += along * along;
        if (e >= w.from) out[0] += along * along;
    }
    out[1] = (double)(w.all - w.from), out[4] = (double)w.n_first, fold(c->free, 1, out + 6);
    double of_all[LANES] = {0.0}, of_first[LANES] = {0.0};
    BUFFER(part, 2 * MOST_PAIRS);
    BUFFER(none, 1) = {0.0};
    BUFFER(first, 1);
    BUFFER(all, 1);
    EACH_BLOCK(o->n) {
        const double *const inverse = c->inverse + b;
        NAMED(combine)(w.rows, n_pairs, w.all, c->pairs + b, o->step, n_pairs, length, 0, 0, part, ROWS_AT_ONCE);
        NAMED(add_squares)(part, ROWS_AT_ONCE, w.n_first, length, none, first);
        NAMED(add_squares)(part + w.n_first * ROWS_AT_ONCE, ROWS_AT_ONCE, w.all - w.n_first, length,
                          w.from ? none : first, all);
        for (int64_t r = 0; r < length; r++) first[r] *= inverse[r], all[r] *= inverse[r];
        NAMED(add_inner)(first, 1, 0, first, 1, 0, length, of_first, 1, 0);
        NAMED(add_inner)(all, 1, 0, all, 1, 0, length, of_all, 1, 0);
    }
    fold(of_all, 1, out + 2), fold(of_first, 1, out + 5);
}

/* Some columns at once. */
TARGETED void NAMED(x_sides)(const given_room *o, column_room *columns, int64_t n_c, double *out) {
    const int64_t n = o->n, q = o->q;
    for (int64_t i = 0; i < n_c; i++) memset(columns[i].lanes, 0, sizeof(double) * LANES * columns[i].k * q);
    EACH_BLOCK(n) {
        NAMED(fetch)(o, o->basis + b, n, q, length, 0);
        for (int64_t i = 0; i < n_c; i++)
            NAMED(add_inner)(columns[i].x + b, columns[i].k, n, o->block, q, ROWS_AT_ONCE, length, columns[i].lanes, q,
                            0);
    }
    for (int64_t i = 0; i < n_c; i++) {
        fold(columns[i].lanes, columns[i].k * q, columns[i].along);
        memset(columns[i].lanes, 0, sizeof(double) * LANES * places_of(o, columns + i).all);
    }
    EACH_BLOCK(n) {
        NAMED(fetch)(o, o->left_y + b, o->step, o->n_y, length, 0);
        NAMED(fetch)(o, o->basis + b, n, q, length, o->n_y);
        for (int64_t i = 0; i < n_c; i++) NAMED(predict_x)(o, columns + i, b, length);
    }
    for (int64_t i = 0; i < n_c; i++) {
        column_room *const c = columns + i;
        const int64_t n_pairs = c->k * o->n_y;
        fold(c->lanes, places_of(o, c).all, c->sums);
        c->beyond = o->turned && turn_x(o, c);
        if (!c->beyond) turn_all(o, c);
        put_off(o, c);
        memset(c->free, 0, sizeof c->free);
        memset(c->lanes, 0, sizeof(double) * LANES * n_pairs * (1 + n_pairs));
    }
    EACH_BLOCK(n) {
        NAMED(fetch)(o, o->left_y + b, o->step, o->n_y, length, 0);
        NAMED(fetch)(o, o->basis + b, n, q, length, o->n_y);
        for (int64_t i = 0; i < n_c; i++) NAMED(multiply)(o, columns + i, b, length);
    }
    for (int64_t i = 0; i < n_c; i++) {
        fold(columns[i].lanes, columns[i].k * o->n_y * (1 + columns[i].k * o->n_y), columns[i].sums);
        NAMED(put_answer)(o, columns + i, out + 7 * i);
    }
}

/* All columns, as many at once as there is room for. */
TARGETED void NAMED(residual_sums)(given_room *o, const int64_t *x, const int64_t *widths, const int64_t *firsts,
                                  int64_t n_x, double *room, double *out) {
    column_room columns[MOST_TOGETHER];
    NAMED(y_side)(o, room);
    for (int64_t i = 0, n_c = 0; i < n_x; i += n_c) {
        double *rows = room;
        for (n_c = 0; n_c < MOST_TOGETHER && i + n_c < n_x; n_c++) {
            column_room *const c = columns + n_c;
            const int64_t k = widths[i + n_c], own = k * (1 + o->n_y) + 1;
            if (n_c && rows + own * o->step > room + ROWS_TOGETHER(o->n) * o->step) break;
            c->x = (const double *)(intptr_t)x[i + n_c], c->k = k, c->first = firsts[i + n_c];
            c->m = n_squares(o, k, 1);
            c->predicted = rows, c->pairs = rows + k * o->step, c->inverse = c->pairs + k * o->n_y * o->step;
            rows += own * o->step;
        }
        for (int64_t j = 0; j < n_c; j++) {
            column_room *const c = columns + j;
            const int64_t sums = n_sums(o->q, o->n_y, c->k);
            c->lanes = rows, c->sums = c->lanes + LANES * sums, c->along = c->sums + sums;
            c->weights = c->along + c->k * o->q, rows += own_room(o->q, o->n_y, c->k);
        }
        NAMED(x_sides)(o, columns, n_c, out + 7 * i);
    }
}

TARGETED void NAMED(given_basis)(const int64_t *rows, const int64_t *widths, int64_t n_given, const double *weights,
                                int64_t size, int64_t n, double *out, double *leverage) {
    int64_t wide = 0;
    BUFFER(none, 1) = {0.0};
    for (int64_t z = 0; z < n_given; z++) wide += widths[z];
    for (int64_t r = 0; r < n; r++) out[r] = 1.0 / sqrt((double)n);
    EACH_BLOCK(n) {
        double *const here = out + n + b;
        for (int64_t z = 0, at = 0; z < n_given; at += widths[z++])
            NAMED(combine)(weights + at, wide, size, (const double *)(intptr_t)rows[z] + b, n, widths[z], length,
                          z ? here : 0, n, here, n);
        NAMED(add_squares)(out + b, n, size + 1, length, none, leverage + b);
    }
}
