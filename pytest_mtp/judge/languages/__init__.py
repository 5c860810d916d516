"""Which script and which language a text is in, by tables small enough to read."""
