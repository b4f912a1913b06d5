"""The coverage study: how often every interval covers what it should, by `python -m benchmarks.coverage`.

`truths` are people, `cases` pair a survey with what is looked for, `finders` look for it in the results, `study`
measures.
"""
