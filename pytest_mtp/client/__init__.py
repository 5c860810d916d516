"""Requests out, exchanges back: bytes, server-sent events, timelines, retries."""
