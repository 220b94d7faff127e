"""The phrase-based system with Moses."""
