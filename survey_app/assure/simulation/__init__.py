"""Simulated respondents: `devices` makes reports, `trial` tries a survey, `demo_survey` fills the sample survey."""
