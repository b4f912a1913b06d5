"""The researchers' side of Candor: authoring, collecting, estimating."""
