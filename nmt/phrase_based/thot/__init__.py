"""The phrase-based system with Thot, from the package index."""
