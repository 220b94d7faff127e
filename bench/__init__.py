"""Benchmarks: the speed of this project beside a plain version of the same equations."""
