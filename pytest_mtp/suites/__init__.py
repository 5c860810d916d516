"""Suite files to cases, and golden answers to expectations."""
