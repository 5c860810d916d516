"""The words every room speaks; imports the standard library alone."""
