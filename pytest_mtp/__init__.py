"""The deploy gate for LLM inference servers: correctness, tool calls, speculative decoding."""

__version__ = "0.1.0"
