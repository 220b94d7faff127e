"""Showing: the artefacts of an experiment, drawings, tables and pages."""
