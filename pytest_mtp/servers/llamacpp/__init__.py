"""llama.cpp's server: its command line, and a program that serves it through the xllamacpp bindings."""
