"""The tool dialects of model families: what a call looks like before a server's parser has read it."""

from pytest_mtp.judge.tools.dialects.code_families import CODE_FAMILIES
from pytest_mtp.judge.tools.dialects.json_families import JSON_FAMILIES
from pytest_mtp.judge.tools.dialects.tag_families import TAG_FAMILIES
from pytest_mtp.judge.tools.dialects.token_families import TOKEN_FAMILIES

DIALECTS = (*JSON_FAMILIES, *TAG_FAMILIES, *TOKEN_FAMILIES, *CODE_FAMILIES)
