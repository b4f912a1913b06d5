"""Everything that is published from a tally: results, cross-tabs, groups and regressions as documents and as text.

Also the noisy bits: `export` writes them, `spss` writes them for SPSS and Stata, `bit_meanings` describes each bit, and
`codebook` and `ddi` document them for people and for machines.
"""
