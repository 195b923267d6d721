/* Counting the bits that two rows of words have in common: what compilers make of the plain loop takes one word at a
   time on processors without an instruction for more; with AVX2 the halves of 32 bytes are looked up
   at once. */
#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#define popcount(word) ((int64_t)__popcnt64(word))
#else
#define popcount(word) ((int64_t)__builtin_popcountll(word))
#endif

static int64_t common_plain(const uint64_t *a, const uint64_t *b, int64_t n) {
    int64_t total = 0;
    for (int64_t w = 0; w < n; w++) total += popcount(a[w] & b[w]);
    return total;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

/* Whether processor and system have AVX2. The compilers' own builtin needs a symbol that not all linkers have. */
static int has_avx2(void) {
    static int known = -1;
    if (known < 0) {
        unsigned a, b, c, d, low, high;
        int found = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
            __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            found = (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
        }
        known = found;
    }
    return known;
}

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
#define common_words(a, b, n) (has_avx2() ? common_wide(a, b, n) : common_plain(a, b, n))
#else
#define common_words(a, b, n) common_plain(a, b, n)
#endif
