/* Counting the bits that two rows of words have in common: what compilers make of the plain loop takes one word at a
   time on processors without an instruction for more; with AVX2 the halves of 32 bytes are looked up at once, and
   newer processors count them (wider words cross lines of the cache, and are slower). */
#include <stdint.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#define popcount(word) ((int64_t)__popcnt64(word))
#else
#define popcount(word) ((int64_t)__builtin_popcountll(word))
#endif

/* Which of up to 64 rows have a level, as bits. */
static uint64_t rows_of_level(const uint8_t *codes, int64_t n, uint8_t level) {
    uint64_t word = 0;
    int64_t r = 0;
#if defined(__SSE2__) || defined(_M_X64)
    const __m128i wanted = _mm_set1_epi8((char)level);
    for (; r + 16 <= n; r += 16) {
        const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(codes + r)), wanted);
        word |= (uint64_t)_mm_movemask_epi8(same) << r;
    }
#endif
    for (; r < n; r++) word |= (uint64_t)(codes[r] == level) << r;
    return word;
}

static int64_t common_plain(const uint64_t *a, const uint64_t *b, int64_t n) {
    int64_t total = 0;
    for (int64_t w = 0; w < n; w++) total += popcount(a[w] & b[w]);
    return total;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

/* What processor and system have: AVX2 is 1, counting in them (AVX-512 VPOPCNTDQ) is 2. The compilers' own builtin
   needs a symbol that not all linkers have. */
static int lanes(void) {
    static int known = -1;
    if (known < 0) {
        unsigned a, b, c, d, low, high;
        int found = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
            __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
                found = (low & 6) == 6 && (b & bit_AVX2);
                const int newer = (b & bit_AVX512F) && (b & bit_AVX512VL) && (c & bit_AVX512VPOPCNTDQ);
                if (found && newer && (low & 0xe6) == 0xe6) found = 2;
            }
        }
        known = found;
    }
    return known;
}
#define has_avx2() (lanes() > 0)

__attribute__((target("avx2"))) static int64_t common_wide(const uint64_t *a, const uint64_t *b, int64_t n) {
    const __m256i half = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i total = zero;
    int64_t w = 0;
    while (w + 4 <= n) {
        const int64_t stop = n - w < 4 * 31 ? n - 3 : w + 4 * 31; /* 31 times 8 bits fit a byte */
        __m256i bytes = zero;
        for (; w < stop; w += 4) {
            const __m256i both = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(a + w)),
                                                  _mm256_loadu_si256((const __m256i *)(b + w)));
            const __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(both, half));
            const __m256i high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(both, 4), half));
            bytes = _mm256_add_epi8(bytes, _mm256_add_epi8(low, high));
        }
        total = _mm256_add_epi64(total, _mm256_sad_epu8(bytes, zero));
    }
    return common_plain(a + w, b + w, n - w) + _mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1)
           + _mm256_extract_epi64(total, 2) + _mm256_extract_epi64(total, 3);
}

__attribute__((target("avx512f,avx512vl,avx512vpopcntdq")))
static inline int64_t common_widest(const uint64_t *a, const uint64_t *b, int64_t n) {
    __m256i total = _mm256_setzero_si256(), other = total;
    int64_t w = 0;
#define COUNTED(w) _mm256_popcnt_epi64(_mm256_and_si256(_mm256_loadu_si256((const __m256i *)(a + w)), \
                                                        _mm256_loadu_si256((const __m256i *)(b + w))))
    for (; w + 16 <= n; w += 16) { /* two sums: neither waits for the other */
        total = _mm256_add_epi64(total, _mm256_add_epi64(COUNTED(w), COUNTED(w + 4)));
        other = _mm256_add_epi64(other, _mm256_add_epi64(COUNTED(w + 8), COUNTED(w + 12)));
    }
    for (; w + 4 <= n; w += 4) total = _mm256_add_epi64(total, COUNTED(w));
#undef COUNTED
    total = _mm256_add_epi64(total, other);
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    return common_plain(a + w, b + w, n - w) + _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
}

static int64_t common_words(const uint64_t *a, const uint64_t *b, int64_t n) {
    const int how = lanes();
    return how == 2 ? common_widest(a, b, n) : how ? common_wide(a, b, n) : common_plain(a, b, n);
}
#else
#define common_words(a, b, n) common_plain(a, b, n)
#endif
