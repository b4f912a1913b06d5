"""The coverage study: how often every interval covers its true value, by `python -m benchmarks.coverage`.

`truths` has simulated people and their true values, `cases` pairs surveys with the intervals to test,
`finders` finds these intervals in the results, and `study` measures.
"""
