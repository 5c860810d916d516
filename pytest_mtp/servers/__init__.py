"""One server: attach, launch, ask what it is, read its counters, stop it."""
