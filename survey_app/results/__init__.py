"""What is published from a tally: results, cross-tabs, groups, regressions as documents, and words about them."""
