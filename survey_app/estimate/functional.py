"""Unions and means of symbols, for every categorical mechanism, from its counts alone.

A functional Σ a_i f_i is estimated by (Σ a_i c_i/n − q Σ a_i)/(p − q). What interval it gets depends on the
distribution of Σ a_i over the bits of one report: one score where one symbol is reported, a sum of several where more
are.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from client.mechanism import Flip, Subset, Unary
from survey_app.estimate.intervals import APPROXIMATE, Floats, Interval, dirichlet, guarded, korn_graubard
from survey_app.store import Counts

Categorical = Flip | Subset | Unary


def unbiased(mechanism: Categorical, counts: Counts, n: int, scores: Sequence[float]) -> float:
    """The unbiased estimate of Σ a_i f_i."""
    p, q = float(mechanism.p), float(mechanism.q)
    a = np.asarray(scores, dtype=float)
    low = float(a.min()) if isinstance(mechanism, Unary) else 0.0  # unary shares do not sum to 1, the true ones do
    return low + float(((a - low) @ counts / n - q * (a - low).sum()) / (p - q))


def union(mechanism: Subset | Unary, counts: Counts, n: int, members: Sequence[int], alpha: float) -> Interval:
    """For the share of a set of symbols; exact where every report names one symbol, or where the set is one symbol."""
    if len(members) == 1:
        return guarded(int(counts[members[0]]), n, mechanism.p, mechanism.q, alpha)
    if isinstance(mechanism, Subset) and mechanism.weight == 1:
        p, q = mechanism.p + (len(members) - 1) * mechanism.q, len(members) * mechanism.q
        if p >= 1:
            return Interval(1.0, 1.0, "guaranteed")
        return guarded(int(counts[list(members)].sum()), n, p, q, alpha)
    scores = np.zeros(mechanism.size)
    scores[list(members)] = 1
    return mean(mechanism, counts, n, scores.tolist(), alpha).clipped(0, 1)


def mean(mechanism: Subset | Unary, counts: Counts, n: int, scores: Sequence[float], alpha: float) -> Interval:
    """For Σ a_i f_i, not yet cut to its possible range."""
    p, q = float(mechanism.p), float(mechanism.q)
    a = np.asarray(scores, dtype=float)
    if isinstance(mechanism, Unary):
        return _unary(mechanism, counts, n, a, alpha)
    if mechanism.weight == 1:
        found = dirichlet(a.tolist(), counts.tolist(), alpha)
        return found.mapped(1 / (p - q), -q * float(a.sum()) / (p - q))
    return _subset(mechanism, counts, n, a, alpha)


def _subset(mechanism: Subset, counts: Counts, n: int, a: Floats, alpha: float) -> Interval:
    """Korn–Graubard on S = Σ of the scores of the reported symbols, with its variance from the estimated shares."""
    k, w, p, q = mechanism.size, mechanism.weight, float(mechanism.p), float(mechanism.q)
    ordered = np.sort(a)
    low, high = float(ordered[:w].sum()), float(ordered[k - w :].sum())
    if high == low:
        return Interval(float(a[0]), float(a[0]), APPROXIMATE)
    s = float(a @ counts / n)
    shares = np.clip((counts / n - q) / (p - q), 0, None)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(k, 1 / k)
    rest, squares = a.sum() - a, (a**2).sum() - a**2

    def spread(r: int) -> Floats:
        found: Floats = r * (k - 1 - r) / ((k - 1) * max(k - 2, 1)) * (squares - rest**2 / (k - 1))
        return found

    held = (a + (w - 1) * rest / (k - 1)) ** 2 + spread(w - 1)
    lost = (w * rest / (k - 1)) ** 2 + spread(w)
    second = p * held + (1 - p) * lost
    first = p * (a + (w - 1) * rest / (k - 1)) + (1 - p) * w * rest / (k - 1)
    least = float((second - first**2).min())
    variance = max(float(shares @ second) - s * s, least) / (high - low) ** 2
    found = korn_graubard((s - low) / (high - low), variance, n, alpha)
    slope = (high - low) / (p - q)
    return found.mapped(slope, (low - q * float(a.sum())) / (p - q))


def _unary(mechanism: Unary, counts: Counts, n: int, a: Floats, alpha: float) -> Interval:
    """A normal approximation with a correction, on scores scaled to [0, 1]."""
    p, q = float(mechanism.p), float(mechanism.q)
    low, width = float(a.min()), float(a.max() - a.min())
    if width == 0:
        return Interval(low, low, APPROXIMATE)
    scaled = (a - low) / width
    shares = (counts / n - q) / (p - q)
    point = float(scaled @ shares)
    inside = min(max(point, 0.0), 1.0)
    squares = min(max(float(scaled**2 @ shares), 0.0), 1.0)
    variance = q * (1 - q) * float((scaled**2).sum()) + abs(p * (1 - p) - q * (1 - q)) * squares
    variance += (p - q) ** 2 * inside * (1 - inside)
    half = (float(ndtri(1 - alpha / 2)) * math.sqrt(variance / n) + 1 / (2 * n)) / (p - q)
    return Interval(point - half, point + half, APPROXIMATE).mapped(width, low)
