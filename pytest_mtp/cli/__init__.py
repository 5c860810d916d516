"""The command pytest-mtp: thin."""
