"""Planning before a survey opens: sample sizes, margins, power, and the cost of privacy.

Everything is computed from the published integers of the mechanisms that authoring would choose.

- `simulated_people`: assumptions about respondents, and simulated respondents.
- `report_variance`: the variance of one report, and of an estimate from n reports.
- `estimands`: the shares and means of each question, with their variances.
- `power`: tests and differences.
- `central_model`: the precision that a trusted curator would reach.
- `epsilon_guide`: the meaning of ε for a respondent.
- `target`: the settings of a plan.
- `question_plan`: one question, planned from its ε.
- `survey_plan`: a whole file, planned for some settings.
- `forecast`: the margins of a survey's figures.
- `variants`: the three ways to ask a survey.
- `ask_advice`: the recommended way.
- `crosstab_plan`: questions to randomize jointly.
- `study_plan`: the groups of a study.
- `remarks`: what is imprecise, and what would help.
- `advice`: remedies for imprecise figures.
- `plan_text`: plans as text for a terminal.
- `dossier`: one document for an ethics board.
"""
