"""What model files say, read from their headers."""
