"""Deterministic signs of broken serving in a text, whatever was asked."""
