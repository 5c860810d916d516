"""Root conftest: pytester is only available from here."""

pytest_plugins = ["pytester"]
