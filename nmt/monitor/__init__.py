"""Watching the trainings of an experiment: while they run, and the curves of finished ones."""
