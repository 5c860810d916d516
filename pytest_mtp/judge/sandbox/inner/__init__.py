"""What runs inside the sandbox, in an interpreter of its own that knows nothing of this package: standard library alone."""
