"""Pure judging: replies in, findings out. No clock, network, file or environment."""
