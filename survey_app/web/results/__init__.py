"""The results page, its downloads, and what stands on it."""
