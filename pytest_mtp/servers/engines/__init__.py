"""One adapter an engine; `registry` knows them all."""
