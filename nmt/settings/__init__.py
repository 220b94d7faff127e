"""Settings: their types, defaults and checks, and the experiments that they make."""
