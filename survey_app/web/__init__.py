"""The HTTP layer: the app, the RSGI adapter, the API, and a package of pages for each audience."""

DEFAULT_DB = "sqlite:///candor.db"  # defined here because the command list names it and must not import a store
