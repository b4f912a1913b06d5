"""Planning before anybody is asked: sample sizes, margins, power, and what privacy costs.

Everything is computed from the published integers of the mechanisms that authoring would choose. `spread` holds the
variance of one report and what n of them make of it; `figures` finds it for every type of question, under the
assumptions of `guess`; `compare` has power and differences, `central` what a trusted curator would reach, `guidance`
what ε means for people. `single` plans one question from its ε, `survey` a whole file, with `lines`, `cross`,
`variants` and `advice` as its parts; `page` puts them into words.
"""
