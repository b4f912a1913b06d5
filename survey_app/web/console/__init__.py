"""Pages for researchers: write, try, publish, run and end surveys."""
