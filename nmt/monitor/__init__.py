"""Trainings under way: how far they are."""
