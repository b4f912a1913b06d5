"""What runs: `app` puts the pages together, `front` stands between HTTP and the app, `serve` starts the workers."""

DEFAULT_DB = "sqlite:///candor.db"  # here, since the list of commands names it and must not wait for a store
