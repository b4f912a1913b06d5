"""Computations, audits and trials of a survey that require no trust in its server."""
