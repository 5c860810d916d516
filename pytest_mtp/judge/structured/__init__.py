"""JSON values: read exactly, compared by value, told apart by pointer."""
