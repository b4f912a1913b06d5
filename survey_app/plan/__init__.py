"""Planning before anybody is asked: sample sizes, margins, power, and what privacy costs.

Everything is computed from the published integers of the mechanisms that authoring would choose. `people` are the
imagined ones; `spread` holds the variance of one report and what n of them make of it; `estimands` finds it for every
type of question; `power` has tests and differences, `central` what a trusted curator would reach, `guidance` what ε
means for people. `question` plans one question from its ε, `survey` a whole file for some `settings`: its `forecast`,
the three ways to ask it (`variants`), which of them to recommend (`choice`), what to randomize together (`cross`), and
`advice`; `text` puts them into words for a terminal. The `dossier` tells an ethics board all that can be told before.
"""
