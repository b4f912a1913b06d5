"""Made-up people answering: `devices` make their reports, `trial` tries a survey on them, `demo` serves a sample."""
