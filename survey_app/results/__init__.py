"""What is published from a tally: results, cross-tabs, groups, regressions as documents, and words about them.

And the noisy bits: `export` writes them, `spss` for SPSS and Stata, `bits` says what each of them is, `codebook` and
`ddi` tell it to people and to machines.
"""
