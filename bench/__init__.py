"""Measurements of speed: ours beside a plain version of the same equations."""
