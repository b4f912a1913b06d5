"""What HTTP shows, a folder for each audience: `form` for respondents, `console` and `results` for researchers."""
