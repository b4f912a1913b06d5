"""What runs: `app` puts the pages together, `front` stands between HTTP and the app, `serve` starts the workers."""
