"""Logistic regression with a randomized outcome: maximum likelihood through the coins.

With P(1 | true) = p and P(1 | not true) = q, a report says yes with probability λ = q + (p−q)·s(xβ), s the logistic
function. Ignoring the coins would draw every slope towards zero. On public covariates (groups) the fit is Fisher's
scoring on counts; on other randomized questions the true answers are latent, and the likelihood sums over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri, softmax

from survey_app.estimate.intervals import Interval, Method
from survey_app.figures import Floats

MOST_STEPS = 200
TOLERANCE = 1e-9
FLAT = 1e-8  # of the information: below, the data do not tell a coefficient
FARTHEST = 30.0  # log odds that nobody can tell from a certainty
VAGUEST = 100.0  # a standard error of log odds that tells nothing
RUNAWAY = "the reports lie outside what any coefficients explain: one runs away to infinity; collect more, or use fewer"


class FitError(Exception):
    """There is no estimate; the message says why."""


@dataclass(frozen=True)
class Coefficient:
    """A log odds ratio with its standard error and interval; `n` counts reports."""

    name: str
    estimate: float
    error: float
    interval: Interval
    n: int


def _inverse(information: Floats) -> Floats:
    """The covariance of what is estimated."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    if float(np.linalg.eigvalsh(information * np.outer(scale, scale)).min()) < FLAT:
        raise FitError("the reports do not determine all coefficients; leave a covariate out, or collect more")
    found: Floats = np.linalg.inv(information * np.outer(scale, scale)) * np.outer(scale, scale)
    return found


def _coefficients(names: Sequence[str], beta: Floats, covariance: Floats, n: int, alpha: float) -> list[Coefficient]:
    errors = np.sqrt(np.diag(covariance)).tolist()
    z = float(ndtri(1 - alpha / 2))
    return [
        Coefficient(name, b, error, Interval(b - z * error, b + z * error, Method.WALD), n)
        for name, b, error in zip(names, beta.tolist(), errors, strict=True)
    ]


def logistic(
    names: Sequence[str], design: Floats, ones: Floats, totals: Floats, p: Floats, q: Floats, alpha: float
) -> list[Coefficient]:
    """On public covariates: a row of `design` for each group, with `ones` of `totals` noisy reports saying yes.

    The fit is made on orthonormal columns, so that it does not matter in what units the covariates are.
    """
    norms = np.maximum(np.linalg.norm(design, axis=0), 1e-300)
    if np.linalg.matrix_rank(design / norms) < design.shape[1]:
        raise FitError(
            f"{design.shape[0]} groups with these covariates cannot tell {design.shape[1]} coefficients apart"
        )
    basis, triangle = np.linalg.qr(design / norms)
    back = np.linalg.inv(triangle) / norms[:, None]

    def parts(free: Floats) -> tuple[float, Floats, Floats]:
        s = expit(basis @ free)
        reported = np.clip(q + (p - q) * s, 1e-12, 1 - 1e-12)
        slope = (p - q) * s * (1 - s)
        fit = float((ones * np.log(reported) + (totals - ones) * np.log1p(-reported)).sum())
        spread = reported * (1 - reported)
        score = basis.T @ (slope * (ones - totals * reported) / spread)
        return fit, score, basis.T @ (basis * (totals * slope**2 / spread)[:, None])

    free = np.zeros(design.shape[1])
    fit, score, information = parts(free)
    for _ in range(MOST_STEPS):
        step = np.linalg.lstsq(information, score, rcond=None)[0]
        size = 1.0
        while size > 1e-6 and parts(free + size * step)[0] < fit:
            size /= 2
        free = free + size * step
        new, score, information = parts(free)
        if abs(new - fit) < TOLERANCE * (1 + abs(fit)):
            break
        fit = new
    seen = basis[totals > 0]
    if float(np.abs(seen @ free).max(initial=0.0)) > FARTHEST:
        raise FitError(RUNAWAY)
    covariance = _inverse(information)
    if float(np.sqrt(np.einsum("ij,jk,ik->i", seen, covariance, seen)).max()) > VAGUEST:
        raise FitError(RUNAWAY)
    return _coefficients(names, back @ free, back @ covariance @ back.T, int(totals.sum()), alpha)


@dataclass(frozen=True)
class Latent:
    """Distinct reports, how often each came, and how likely each is under every latent cell."""

    counts: Floats  # reports
    outcome: Floats  # reports × 2: P(bits | outcome no, yes)
    cells: Floats  # reports × cells: P(bits of the predictors | cell)
    design: Floats  # cells × coefficients


def latent_logistic(names: Sequence[str], data: Latent, alpha: float) -> list[Coefficient]:
    """On other randomized questions: shares of the latent cells and β together, by maximum likelihood."""
    shares = _latent_shares(data.cells, data.counts)
    order = np.argsort(shares)  # the other shares are relative to the last, which must not be nothing
    given_cells, design, shares = data.cells[:, order], data.design[order], np.maximum(shares[order], 1e-4)
    coefficients = design.shape[1]
    weights = data.counts / data.counts.sum()

    def parts(free: Floats) -> tuple[float, Floats, Floats]:
        """−log L/n, its gradient, and the gradient of each report's log likelihood."""
        s = expit(design @ free[:coefficients])
        pi = softmax(np.append(free[coefficients:], 0.0))
        joint = given_cells * pi * (data.outcome[:, :1] * (1 - s) + data.outcome[:, 1:] * s)  # reports × cells
        total = joint.sum(axis=1)
        tilt = given_cells * pi * (data.outcome[:, 1:] - data.outcome[:, :1]) * (s * (1 - s)) / total[:, None]
        gradient = np.concatenate([tilt @ design, (joint / total[:, None] - pi)[:, :-1]], axis=1)
        return -float(weights @ np.log(total)), -(weights @ gradient), gradient

    def loss(free: Floats) -> tuple[float, Floats]:
        return parts(free)[:2]

    start = np.concatenate([np.zeros(coefficients), np.log(shares[:-1] / shares[-1])])
    fitted = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8})
    beta = fitted.x[:coefficients]
    if float(np.abs(beta).max()) > FARTHEST:
        raise FitError(RUNAWAY)
    gradient = parts(fitted.x)[2]
    pi = softmax(np.append(fitted.x[coefficients:], 0.0))[:-1]
    kept = np.append(np.ones(coefficients, dtype=bool), pi > 1e-6)
    information = (gradient * data.counts[:, None]).T @ gradient
    covariance = _inverse(information[np.ix_(kept, kept)])[:coefficients, :coefficients]
    if float(np.sqrt(np.diag(covariance)).max()) > VAGUEST:
        raise FitError(RUNAWAY)
    return _coefficients(names, beta, covariance, int(data.counts.sum()), alpha)


def _latent_shares(cells: Floats, counts: Floats) -> Floats:
    """A first guess at the shares of the cells: some steps of EM."""
    shares = np.full(cells.shape[1], 1 / cells.shape[1])
    for _ in range(50):
        joint = cells * shares
        shares = (counts / counts.sum()) @ (joint / joint.sum(axis=1, keepdims=True))
    return shares
