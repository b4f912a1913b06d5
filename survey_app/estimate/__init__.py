"""Estimates with intervals from counts of noisy bits: pure numpy and scipy, no I/O.

Every estimate is an affine map of a column sum: with P(1 | true) = p and P(1 | not true) = q,
`unbiased = (ones/n − q)/(p − q)`. It is never clipped. The displayed point and the interval are separate numbers with
names of their own.
"""
