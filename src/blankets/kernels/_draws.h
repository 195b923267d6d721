/* Permutations within strata. Each random number follows from the one before it, which takes longer than to use it. So
   those of eight permutations are drawn beside one another, once so many are wanted that it pays: a step of the generator
   is linear in its bits, and as many steps as a permutation has are a matrix of bits. The numbers stay the same. */
#include <math.h>
#include <stdint.h>

#define AT_ONCE 8
#define MOST_PICKS 512 /* rows to draw for a permutation, for which there is room */
#define FEW_DRAWS 24   /* permutations before it pays */
#define MOST_BYTES 4   /* columns whose counts fit one number, a byte for each */

typedef struct {
    int64_t n, n_picks;                /* strata, and rows to draw for a permutation */
    uint32_t at[MOST_PICKS];           /* place of each of these rows, */
    uint32_t spans[MOST_PICKS];        /* and of how many it is drawn */
    uint16_t stops[MOST_PICKS];        /* where each level of rows ends among them */
    uint16_t levels[MOST_PICKS];       /* how many of these levels each stratum has, */
    uint32_t columns[MOST_PICKS][MOST_BYTES]; /* and its margin of columns */
} Plan;

always_inlined uint64_t xorshift(uint64_t state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^ (state << 17);
}

/* Whether there is a plan for strata of few levels and rows: it is made. */
static int is_planned(Plan *plan, const int64_t *rows, const int64_t *columns, const int64_t *order, int64_t n,
                      int64_t width, int64_t stride, int64_t n_terms) {
    int64_t n_picks = 0, n_stops = 0, first = 0;
    if (width > MOST_BYTES || n > MOST_PICKS) return 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t *r = rows + stride * order[k], *c = columns + stride * order[k];
        int64_t size = 0, total = 0, before = n_stops;
        for (int64_t j = 0; j < MOST_BYTES; j++) {
            plan->columns[k][j] = j < width ? (uint32_t)c[j] : 0;
            size += plan->columns[k][j];
            total += j < width ? r[j] : 0;
        }
        if (total != size || size - r[0] > 255 || n_picks + size - r[0] > MOST_PICKS || size >= n_terms) return 0;
        for (int64_t i = 1, left = size; i < width && r[i] > 0; i++) {
            for (int64_t m = 0; m < r[i]; m++, left--, n_picks++) {
                plan->at[n_picks] = (uint32_t)(first + size - left);
                plan->spans[n_picks] = (uint32_t)left;
            }
            plan->stops[n_stops++] = (uint16_t)n_picks;
        }
        plan->levels[k] = (uint16_t)(n_stops - before);
        first += size;
    }
    plan->n = n;
    plan->n_picks = n_picks;
    return 1;
}

/* The rows to draw, of so many permutations beside one another; states become those after them. */
#define PICKS(name, many) \
    name(uint64_t *states, const Plan *plan, uint32_t *picks) { \
        uint64_t now[many]; \
        for (int k = 0; k < many; k++) now[k] = states[k]; \
        for (int64_t t = 0; t < plan->n_picks; t++) \
            for (int k = 0; k < many; k++) { \
                now[k] = xorshift(now[k]); \
                picks[many * t + k] = plan->at[t] + (uint32_t)(((now[k] >> 32) * (uint64_t)plan->spans[t]) >> 32); \
            } \
        for (int k = 0; k < many; k++) states[k] = now[k]; \
    }
static void PICKS(one_of_picks, 1)
static void PICKS(picks_plain, AT_ONCE)
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void PICKS(picks_wide, AT_ONCE)
#define all_picks (has_avx2() ? picks_wide : picks_plain)
#else
#define all_picks picks_plain
#endif

/* The sum of o ln o of one permutation, whose rows to draw come every so many numbers. Labels are ones of the bytes of
   their columns, so that the sum of those drawn counts them all. */
always_inlined int64_t sum_as_planned(const Plan *plan, uint32_t *labels, const uint32_t *picks, int64_t every,
                                      const int64_t *terms, int width) {
    uint32_t sums[MOST_PICKS + 1];
    uint32_t sum = 0;
    int64_t total = 0;
    for (int64_t t = 0; t < plan->n_picks; t++, picks += every) {
        const uint32_t label = labels[*picks];
        labels[*picks] = labels[plan->at[t]];
        labels[plan->at[t]] = label;
        sums[t] = sum += label;
    }
    const uint16_t *stop = plan->stops;
    uint32_t before = 0;
    for (int64_t k = 0; k < plan->n; k++) {
        const uint32_t first = before;
        for (int64_t i = 0; i < plan->levels[k]; i++) {
            const uint32_t now = sums[*stop++ - 1], drawn = now - before;
            before = now;
            for (int j = 0; j < width; j++) total += terms[(drawn >> 8 * j) & 255];
        }
        for (int j = 0; j < width; j++) total += terms[plan->columns[k][j] - (((before - first) >> 8 * j) & 255)];
    }
    return total;
}

/* The same in any strata, one number after the other; labels are numbers of columns. */
static int64_t sum_of_any(const int64_t *rows, const int64_t *columns, const int64_t *order, int64_t n, int64_t width,
                          int64_t stride, uint32_t *labels, int64_t *left, int64_t *drawn, const int64_t *terms,
                          int64_t n_terms, double unit, uint64_t *state) {
    int64_t total = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t *r = rows + stride * order[k], *c = columns + stride * order[k];
        int64_t n_columns = 0, size = 0, at = 0;
        for (; n_columns < width && c[n_columns] > 0; n_columns++) size += left[n_columns] = c[n_columns];
        for (int64_t i = 1; i < width && r[i] > 0; i++) {
            for (int64_t j = 0; j < n_columns; j++) drawn[j] = 0;
            for (const int64_t stop = at + r[i]; at < stop; at++) {
                *state = xorshift(*state);
                const int64_t pick = at + (int64_t)(((*state >> 32) * (uint64_t)(size - at)) >> 32);
                const uint32_t label = labels[pick];
                labels[pick] = labels[at];
                labels[at] = label;
                drawn[label]++;
            }
            for (int64_t j = 0; j < n_columns; j++) {
                total += term_of((uint32_t)drawn[j], terms, n_terms, unit);
                left[j] -= drawn[j];
            }
        }
        for (int64_t j = 0; j < n_columns; j++) total += term_of((uint32_t)left[j], terms, n_terms, unit);
        labels += size;
    }
    return total;
}

/* The columns of the matrix of bits of n steps, and a state after these steps. */
static void put_steps(int64_t n, uint64_t *columns) {
    for (int j = 0; j < 64; j++) columns[j] = (uint64_t)1 << j;
    for (int64_t t = 0; t < n; t++)
        for (int j = 0; j < 64; j++) columns[j] = xorshift(columns[j]);
}

static uint64_t after_steps(uint64_t state, const uint64_t *columns) {
    uint64_t found = 0;
    for (int j = 0; j < 64; j++) found ^= columns[j] & (0 - ((state >> j) & 1));
    return found;
}

/* Whether more draws would hardly change the decision: see _decided, which says the same in Python. */
static int are_enough(int64_t hits, double expected) {
    const double spread = 2.0 * sqrt(expected);
    return (double)hits > expected + 1.5 + spread || (double)hits < expected - spread;
}

/* See _draw, which says the same in Python. */
static void draw_strata(const int64_t *rows, const int64_t *columns, const int64_t *order, int64_t n, int64_t width,
                        int64_t stride, uint32_t *labels, int64_t *left, int64_t *drawn, const int64_t *terms,
                        int64_t n_terms, double unit, uint64_t state, int64_t observed, int64_t slack, int64_t most,
                        int64_t enough, double level, int64_t *n_hits, int64_t *n_larger, int64_t *n_drawn) {
    Plan plan;
    uint32_t picks[AT_ONCE * MOST_PICKS];
    uint64_t steps[64], states[AT_ONCE];
    const int planned = is_planned(&plan, rows, columns, order, n, width, stride, n_terms);
    int64_t hits = 0, larger = 0, draws = 0, total;
    if (planned)
        for (int64_t k = 0, at = 0; k < n; k++)
            for (int j = 0; j < MOST_BYTES; j++)
                for (uint32_t m = 0; m < plan.columns[k][j]; m++) labels[at++] = (uint32_t)1 << 8 * j;
    while (draws < most && hits < enough) {
        const int64_t next = (draws - FEW_DRAWS) % AT_ONCE;
        const uint32_t *mine = picks;
        int64_t every = 1;
        if (planned && draws < FEW_DRAWS) {
            one_of_picks(&state, &plan, picks);
        } else if (planned) {
            if (draws == FEW_DRAWS) put_steps(plan.n_picks, steps);
            if (next == 0) {
                states[0] = state;
                for (int k = 1; k < AT_ONCE; k++) states[k] = after_steps(states[k - 1], steps);
                all_picks(states, &plan, picks);
                state = states[AT_ONCE - 1];
            }
            mine = picks + next;
            every = AT_ONCE;
        }
        if (!planned)
            total = sum_of_any(rows, columns, order, n, width, stride, labels, left, drawn, terms, n_terms, unit,
                               &state);
        else if (width == 2)
            total = sum_as_planned(&plan, labels, mine, every, terms, 2);
        else if (width == 3)
            total = sum_as_planned(&plan, labels, mine, every, terms, 3);
        else
            total = sum_as_planned(&plan, labels, mine, every, terms, MOST_BYTES);
        draws++;
        hits += total >= observed - slack;
        larger += total > observed + slack;
        if (level > 0.0 && are_enough(hits, level * (double)draws)) break;
    }
    *n_hits = hits;
    *n_larger = larger;
    *n_drawn = draws;
}
