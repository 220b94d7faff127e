"""The phrase-based system with Thot."""
