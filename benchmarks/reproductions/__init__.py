"""The figures, examples and exercises of the sources, computed again, each number next to its theory.

`python -m benchmarks.reproductions` writes `docs/reproductions.md` and its charts. Each section has its own generator,
seeded from `SEED` and its place, so the page is the same byte for byte. A section is a function of a generator
and a number of runs. Tests call it again with other seeds.
"""

SEED = 20_240_229  # any number would do; it is published so that the page can be made again
RUNS = 10_000  # as in the sources' own simulations
