"""Attacks run for real, each next to its theoretical result: `python -m tests.attacks` writes docs/attacks.md.

The tests run the same attacks at a small size; the theory is computed next to each simulated number.
"""
