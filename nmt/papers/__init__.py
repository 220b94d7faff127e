"""The papers, one a room: their tables, figures, printed numbers and captions."""
