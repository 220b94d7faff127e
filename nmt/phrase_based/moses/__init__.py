"""The phrase-based system with Moses, from an installation of the user's."""
