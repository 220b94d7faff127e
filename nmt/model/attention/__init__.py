"""The ways in which the decoder attends to the source."""

#: Module and class of each attention. A model imports only the one that it uses, so that it depends on no other.
MODULES = {
    "additive": ("nmt.model.attention.additive", "AdditiveAttention"),
    "fine_grained": ("nmt.model.attention.fine_grained", "FineGrainedAttention"),
    "fixed": ("nmt.model.attention.fixed", "FixedContext"),
}
