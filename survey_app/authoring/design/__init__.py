"""The search for the blocks that devices answer, and a sentence about the respondents that the design saves."""
