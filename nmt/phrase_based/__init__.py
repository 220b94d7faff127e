"""The phrase-based baseline, with Thot or Moses: word alignment, phrase table, language model, tuning, translation."""
