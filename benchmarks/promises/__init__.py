"""A test of the margins that `candor plan` promises, on ten simulated surveys: `python -m benchmarks.promises`.

`surveys` has the files, `figures` finds the results and their true values, and `study` measures.
"""
