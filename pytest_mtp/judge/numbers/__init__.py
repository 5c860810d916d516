"""Numbers in text: found, read exactly, and compared."""
