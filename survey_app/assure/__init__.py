"""Proof, not promise: computations, audits and trials of a survey that need no trust in its server."""
