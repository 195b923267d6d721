/* Counting many levels of columns in one pass over the rows. A lane is a level of a column; up to 32 of them have a
   byte each beside one another for every slot of rows, so that one addition counts a row for all of them. Sixteen rows
   of sixteen columns are turned at once; where processors have AVX2, of twice as many. */
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

/* Turn sixteen rows of sixteen bytes: four times their first and second halves are mixed. */
#define MIX(from, to, kind, low, high) \
    for (int k = 0; k < 8; k++) { \
        to[2 * k] = low(from[k], from[k + 8]); \
        to[2 * k + 1] = high(from[k], from[k + 8]); \
    }
#define TURN(v, w, kind, low, high) \
    MIX(v, w, kind, low, high) MIX(w, v, kind, low, high) MIX(v, w, kind, low, high) MIX(w, v, kind, low, high)

static void sixteen_lanes(const uint8_t *const *columns, const uint8_t *levels, const uint32_t *slots, int64_t n_rows,
                          int64_t width, uint8_t *table) {
    const __m128i wanted = _mm_loadu_si128((const __m128i *)levels);
    for (int64_t r = 0; r + 16 <= n_rows; r += 16) {
        __m128i v[16], w[16];
        for (int k = 0; k < 16; k++) v[k] = _mm_loadu_si128((const __m128i *)(columns[k] + r));
        TURN(v, w, __m128i, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
        for (int k = 0; k < 16; k++) {
            __m128i *at = (__m128i *)(table + width * slots[r + k]);
            _mm_storeu_si128(at, _mm_sub_epi8(_mm_loadu_si128(at), _mm_cmpeq_epi8(v[k], wanted)));
        }
    }
}

/* Turn sixteen slots of sixteen lanes, and write them as counts of four bytes. */
static void sixteen_counts(const uint8_t *table, int64_t width, int64_t first, int n_lanes, const int64_t *places,
                           int32_t *counts) {
    const __m128i zero = _mm_setzero_si128();
    __m128i v[16], w[16];
    for (int k = 0; k < 16; k++) v[k] = _mm_loadu_si128((const __m128i *)(table + width * (first + k)));
    TURN(v, w, __m128i, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
    for (int k = 0; k < n_lanes; k++) {
        const __m128i low = _mm_unpacklo_epi8(v[k], zero), high = _mm_unpackhi_epi8(v[k], zero);
        __m128i *at = (__m128i *)(counts + places[k] + first);
        _mm_storeu_si128(at, _mm_unpacklo_epi16(low, zero));
        _mm_storeu_si128(at + 1, _mm_unpackhi_epi16(low, zero));
        _mm_storeu_si128(at + 2, _mm_unpacklo_epi16(high, zero));
        _mm_storeu_si128(at + 3, _mm_unpackhi_epi16(high, zero));
    }
}
#else
static void sixteen_lanes(const uint8_t *const *columns, const uint8_t *levels, const uint32_t *slots, int64_t n_rows,
                          int64_t width, uint8_t *table) {
    for (int64_t r = 0; r + 16 <= n_rows; r += 16)
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 16; i++) table[width * slots[r + i] + k] += columns[k][r + i] == levels[k];
}

static void sixteen_counts(const uint8_t *table, int64_t width, int64_t first, int n_lanes, const int64_t *places,
                           int32_t *counts) {
    for (int k = 0; k < n_lanes; k++)
        for (int i = 0; i < 16; i++) counts[places[k] + first + i] = table[width * (first + i) + k];
}
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
__attribute__((target("avx2"))) static void all_lanes(const uint8_t *const *columns, const uint8_t *levels,
                                                      const uint32_t *slots, int64_t n_rows, uint8_t *table) {
    const __m256i wanted = _mm256_loadu_si256((const __m256i *)levels);
    for (int64_t r = 0; r + 16 <= n_rows; r += 16) {
        __m256i v[16], w[16];
        for (int k = 0; k < 16; k++)
            v[k] = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(columns[k] + r))),
                _mm_loadu_si128((const __m128i *)(columns[k + 16] + r)), 1);
        TURN(v, w, __m256i, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8)
        for (int k = 0; k < 16; k++) {
            __m256i *at = (__m256i *)(table + (int64_t)MOST_LANES * slots[r + k]);
            _mm256_storeu_si256(at, _mm256_sub_epi8(_mm256_loadu_si256(at), _mm256_cmpeq_epi8(v[k], wanted)));
        }
    }
}
#define has_all_lanes() has_avx2()
#else
#define has_all_lanes() 0
#define all_lanes(columns, levels, slots, n_rows, table) (void)0
#endif

/* Set the counts of lanes: columns[k] is the column of lane k, levels[k] its level, places[k] where its counts begin.
   No slot has more than 255 rows; those from n_cells on belong to the cells that owner tells. */
static void count_lanes(const uint8_t *codes, int64_t n_rows, const int64_t *columns, const uint8_t *levels,
                        const int64_t *places, int64_t n_lanes, const uint32_t *slots, int64_t n_slots,
                        const uint32_t *owner, int64_t n_cells, uint8_t *table, int32_t *counts) {
    const int64_t width = n_lanes > 16 ? MOST_LANES : 16;
    const uint8_t *at[MOST_LANES];
    uint8_t level[MOST_LANES];
    for (int k = 0; k < MOST_LANES; k++) {
        at[k] = codes + n_rows * columns[k < n_lanes ? k : 0];
        level[k] = k < n_lanes ? levels[k] : 0; /* nobody reads what these count */
    }
    memset(table, 0, (size_t)(width * n_slots));
    if (width == MOST_LANES && has_all_lanes())
        all_lanes(at, level, slots, n_rows, table);
    else
        for (int k = 0; k < width; k += 16) sixteen_lanes(at + k, level + k, slots, n_rows, width, table + k);
    for (int64_t r = n_rows - n_rows % 16; r < n_rows; r++)
        for (int k = 0; k < n_lanes; k++) table[width * slots[r] + k] += at[k][r] == level[k];
    for (int k = 0; k < n_lanes; k += 16) {
        const int here = (int)(n_lanes - k < 16 ? n_lanes - k : 16);
        int64_t c = 0;
        for (; c + 16 <= n_cells; c += 16) sixteen_counts(table + k, width, c, here, places + k, counts);
        for (; c < n_cells; c++)
            for (int i = k; i < k + here; i++) counts[places[i] + c] = table[width * c + i];
    }
    for (int64_t s = n_cells; s < n_slots; s++)
        for (int k = 0; k < n_lanes; k++) counts[places[k] + owner[s]] += table[width * s + k];
}
