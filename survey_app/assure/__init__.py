"""Proof, not promise: what anyone can compute, run or try about a survey, without believing its server."""
