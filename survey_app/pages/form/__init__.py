"""Respondents' pages: the form, and the pages that explain."""
