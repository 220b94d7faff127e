"""Recurrent units, for encoder and decoder."""

#: Module and class of each unit. A model imports only the one that it uses, so that it depends on no other.
MODULES = {
    "gated": ("nmt.model.units.gated", "GatedUnit"),
    "lstm": ("nmt.model.units.lstm", "LSTM"),
}
