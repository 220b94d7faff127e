"""Files, processes and devices: what every step stands on."""
