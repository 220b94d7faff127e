"""The recurrences as fast as the mathematics allows."""
