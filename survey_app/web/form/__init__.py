"""Pages for respondents: the form, and the pages that explain the survey."""
