"""Verdicts to text and files."""
