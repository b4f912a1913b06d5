"""Attacks run for real, each beside what it should find: `python -m tests.attacks` writes docs/attacks.md.

The tests run the same attacks at a small size; what a simulated number should be is computed by its side.
"""
