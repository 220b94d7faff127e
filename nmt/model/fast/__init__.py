"""The fast implementation: one loop over time, and what a unit or an attention does within it."""
