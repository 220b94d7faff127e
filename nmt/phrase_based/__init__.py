"""The phrase-based system of Table 1's last row: word alignment, phrases, language model, tuning, decoding."""
