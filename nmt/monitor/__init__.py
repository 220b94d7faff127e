"""Watching the trainings of an experiment while they run."""
