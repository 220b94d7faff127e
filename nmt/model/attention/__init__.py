"""The ways in which the decoder looks at the source."""
