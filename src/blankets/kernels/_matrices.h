/* Small matrices: eigenvectors, and weights that make functions orthonormal. */
#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* Weights, by rows of length n, that make functions with the inner products a orthonormal, each with those before it;
   one of which no more than `least` is left has none. Returns how many there are. */
static int64_t orthonormal(const double *a, int64_t n, double least, double *weights) {
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        double *new = weights + size * n, left = a[i * n + i];
        memset(new, 0, sizeof(double) * n);
        for (int64_t e = 0; e < size; e++) {
            const double *before = weights + e * n;
            double along = 0.0;
            for (int64_t j = 0; j < i; j++) along += before[j] * a[i * n + j];
            for (int64_t j = 0; j < i; j++) new[j] -= along * before[j];
            left -= along * along;
        }
        if (left <= least) continue;
        new[i] = 1.0;
        for (int64_t j = 0; j <= i; j++) new[j] /= sqrt(left);
        size++;
    }
    return size;
}

static double squared_length(const double *a, int64_t n) {
    double all = 0.0;
    for (int64_t i = 0; i < n; i++) all += a[i] * a[i];
    return all;
}

static double product_of(const double *a, const double *b, int64_t n) {
    double all = 0.0;
    for (int64_t i = 0; i < n; i++) all += a[i] * b[i];
    return all;
}
