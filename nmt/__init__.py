"""Neural machine translation by jointly learning to align and translate: every step of the reproduction."""
