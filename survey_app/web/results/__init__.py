"""The results page with its tables, plots and comparisons, and its downloads."""
