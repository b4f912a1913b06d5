"""Logistic regression with a randomized outcome, by maximum likelihood that accounts for the randomization.

With P(1 | true) = p and P(1 | not true) = q, a report says yes with probability λ = q + (p−q)·s(xβ), where s is the
logistic function. Ignoring the randomization would bias every slope towards zero. With public covariates (groups) the
fit is Fisher scoring on counts. With randomized covariates the true answers are latent, and the likelihood sums over
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri, softmax

from survey_app.estimate.intervals import Interval, Method
from survey_app.estimate.refusal_codes import Refusal, RefusalCode
from survey_app.figures import Floats

MOST_STEPS = 200
TOLERANCE = 1e-9
LEAST_INFORMATION = 1e-8  # smallest eigenvalue of the information with which all coefficients are determined
MOST_LOG_ODDS = 30.0  # log odds from which a probability is indistinguishable from certainty
MOST_ERROR = 100.0  # standard error of log odds from which an estimate is uninformative
RUNAWAY = (
    "the coefficients cannot be estimated from these reports: one of them diverges to infinity; collect more reports,"
    " or use fewer predictors"
)


class FitError(Refusal):
    """The regression cannot be fitted."""


@dataclass(frozen=True)
class Coefficient:
    """A log odds ratio with its standard error and interval; `n` counts reports."""

    name: str
    estimate: float
    error: float
    interval: Interval
    n: int


def _inverse(information: Floats) -> Floats:
    """Return the covariance of the estimates: the inverse of their information; raise FitError if it is singular."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    if float(np.linalg.eigvalsh(information * np.outer(scale, scale)).min()) < LEAST_INFORMATION:
        raise FitError(
            RefusalCode.UNDETERMINED,
            "the reports do not determine all coefficients; leave out a covariate, or collect more reports",
        )
    covariance: Floats = np.linalg.inv(information * np.outer(scale, scale)) * np.outer(scale, scale)
    return covariance


def _coefficients(names: Sequence[str], beta: Floats, covariance: Floats, n: int, alpha: float) -> list[Coefficient]:
    errors = np.sqrt(np.diag(covariance)).tolist()
    z = float(ndtri(1 - alpha / 2))
    return [
        Coefficient(name, b, error, Interval(b - z * error, b + z * error, Method.WALD), n)
        for name, b, error in zip(names, beta.tolist(), errors, strict=True)
    ]


def fit_logistic(
    names: Sequence[str], design: Floats, ones: Floats, totals: Floats, p: Floats, q: Floats, alpha: float
) -> list[Coefficient]:
    """Fit a logistic regression on public covariates and return its coefficients.

    `design` has a row for each group, in which `ones` of `totals` noisy reports say yes. The fit uses orthonormal
    columns, so that the units of the covariates do not matter. Raise FitError if coefficients are not determined.
    """
    norms = np.maximum(np.linalg.norm(design, axis=0), 1e-300)
    if np.linalg.matrix_rank(design / norms) < design.shape[1]:
        raise FitError(
            RefusalCode.UNDETERMINED,
            f"the covariates of {design.shape[0]} group{'s' * (design.shape[0] != 1)} do not determine"
            f" {design.shape[1]} coefficients; use fewer covariates, or more groups",
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
        new_fit, score, information = parts(free)
        if abs(new_fit - fit) < TOLERANCE * (1 + abs(fit)):
            break
        fit = new_fit
    observed = basis[totals > 0]
    if float(np.abs(observed @ free).max(initial=0.0)) > MOST_LOG_ODDS:
        raise FitError(RefusalCode.DIVERGING, RUNAWAY)
    covariance = _inverse(information)
    if float(np.sqrt(np.einsum("ij,jk,ik->i", observed, covariance, observed)).max()) > MOST_ERROR:
        raise FitError(RefusalCode.DIVERGING, RUNAWAY)
    return _coefficients(names, back @ free, back @ covariance @ back.T, int(totals.sum()), alpha)


@dataclass(frozen=True)
class LatentData:
    """Distinct reports with their counts, and the probability of each report under every latent cell."""

    counts: Floats  # reports
    outcome: Floats  # reports × 2: P(bits | outcome no, yes)
    cells: Floats  # reports × cells: P(bits of the predictors | cell)
    design: Floats  # cells × coefficients


def fit_latent_logistic(names: Sequence[str], data: LatentData, alpha: float) -> list[Coefficient]:
    """Fit a logistic regression on other randomized questions and return its coefficients.

    Maximum likelihood estimates the shares of the latent cells together with β. Raise FitError if coefficients are not
    determined.
    """
    shares = _latent_shares(data.cells, data.counts)
    order = np.argsort(shares)  # the other shares are relative to the last, which must not be zero
    cell_chances, design, shares = data.cells[:, order], data.design[order], np.maximum(shares[order], 1e-4)
    coefficients = design.shape[1]
    weights = data.counts / data.counts.sum()

    def parts(free: Floats) -> tuple[float, Floats, Floats]:
        """Return −log L/n, its gradient, and the gradient of each report's log likelihood."""
        s = expit(design @ free[:coefficients])
        pi = softmax(np.append(free[coefficients:], 0.0))
        joint = cell_chances * pi * (data.outcome[:, :1] * (1 - s) + data.outcome[:, 1:] * s)  # reports × cells
        total = joint.sum(axis=1)
        tilt = cell_chances * pi * (data.outcome[:, 1:] - data.outcome[:, :1]) * (s * (1 - s)) / total[:, None]
        gradient = np.concatenate([tilt @ design, (joint / total[:, None] - pi)[:, :-1]], axis=1)
        return -float(weights @ np.log(total)), -(weights @ gradient), gradient

    def loss(free: Floats) -> tuple[float, Floats]:
        return parts(free)[:2]

    start = np.concatenate([np.zeros(coefficients), np.log(shares[:-1] / shares[-1])])
    optimum = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8})
    beta = optimum.x[:coefficients]
    if float(np.abs(beta).max()) > MOST_LOG_ODDS:
        raise FitError(RefusalCode.DIVERGING, RUNAWAY)
    gradient = parts(optimum.x)[2]
    pi = softmax(np.append(optimum.x[coefficients:], 0.0))[:-1]
    is_estimated = np.append(np.ones(coefficients, dtype=bool), pi > 1e-6)
    information = (gradient * data.counts[:, None]).T @ gradient
    covariance = _inverse(information[np.ix_(is_estimated, is_estimated)])[:coefficients, :coefficients]
    if float(np.sqrt(np.diag(covariance)).max()) > MOST_ERROR:
        raise FitError(RefusalCode.DIVERGING, RUNAWAY)
    return _coefficients(names, beta, covariance, int(data.counts.sum()), alpha)


def _latent_shares(cells: Floats, counts: Floats) -> Floats:
    """Return a first guess at the shares of the latent cells, by some steps of EM."""
    shares = np.full(cells.shape[1], 1 / cells.shape[1])
    for _ in range(50):
        joint = cells * shares
        shares = (counts / counts.sum()) @ (joint / joint.sum(axis=1, keepdims=True))
    return shares
