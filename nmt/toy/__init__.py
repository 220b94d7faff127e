"""The built-in language of the demonstrations."""
