"""The phrase-based system with Moses, from an installation that the user names or one that is built here."""
