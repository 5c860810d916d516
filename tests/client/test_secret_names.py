"""Names of parameters and variables whose values are not shown."""

from __future__ import annotations

import pytest

from pytest_mtp.client.redaction import is_secret_name


@pytest.mark.parametrize(
    "name", ["api_key", "HF_TOKEN", "hf-token", "password", "OPENAI_API_KEY", "client_secret", "apikey", "auth", "bearer_x"]
)
def test_secrets(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["max_tokens", "num_speculative_tokens", "token_delay_ms", "tokenizer", "key_value_bits", "depth", "", "monkey"]
)
def test_no_secrets(name):
    assert not is_secret_name(name)
