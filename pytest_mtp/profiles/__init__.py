"""How to start a server: YAML files to profiles, and the profiles that come with the package."""
