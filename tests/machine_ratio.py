"""The noncentrality of tests with a machine's labels beside gold ones, by a general optimizer."""

import numpy as np
from scipy import optimize


def noncentrality_of(n, rows, effect, p, wrong):
    """Return the likelihood ratio of free errors at expected counts by a general optimizer; a feature of two levels."""

    def shares(delta):
        q = np.array([p - delta, p + delta])
        return np.stack([1 - q, q], axis=1) / 2  # (x, y)

    def nats(delta):
        both = shares(delta)
        return float((both * np.log(both / np.outer(both.sum(axis=1), both.sum(axis=0)))).sum())

    joint = shares(optimize.brentq(lambda d: nats(d) - effect, 1e-6, 0.999 * min(p, 1 - p)))
    joint = 2 * joint[:, :, None] * np.array([[1 - wrong, wrong], [wrong, 1 - wrong]])  # (x, y, what the machine says)
    gold, rest = n / 2 * joint, (rows - n) / 2 * joint.sum(axis=1)

    def loss(q):
        return -np.sum(gold * np.log(q)) - np.sum(rest * np.log(q.sum(axis=1)))

    def independent(t):
        errors = t[1:].reshape(2, 2)
        return loss(
            np.stack(
                [
                    (1 - t[0]) * np.stack([1 - errors[:, 0], errors[:, 0]], 1),
                    t[0] * np.stack([errors[:, 1], 1 - errors[:, 1]], 1),
                ],
                1,
            )
        )

    best = optimize.minimize(independent, [p, *[wrong] * 4], bounds=[(1e-9, 1 - 1e-9)] * 5, tol=1e-13)
    return 2 * (best.fun - loss(joint))
