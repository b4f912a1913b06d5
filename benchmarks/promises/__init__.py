"""What `candor plan` promises, kept: ten surveys, simulated as often as one likes, by `python -m benchmarks.promises`.

`surveys` are the files, `figures` finds what the results show and says what is true in its place, `study` measures.
"""
