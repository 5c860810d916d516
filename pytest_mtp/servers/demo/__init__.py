"""A real llama.cpp server with a real multi-token-prediction head, small enough for one CPU thread."""
