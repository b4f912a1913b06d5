"""Researchers' pages: write, try, publish, run and end surveys."""
