"""From counts of noisy bits to estimates with intervals: pure numpy and scipy, no I/O.

Every estimate is one affine map away from a column sum: with P(1 | true) = p and P(1 | not true) = q,
`unbiased = (ones/n − q)/(p − q)`. It is never clipped; the displayed point is another number with another name, and
so is the interval.
"""
