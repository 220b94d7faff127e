"""The equations of Section 3 and Appendix A: mathematics only, without files, options or messages."""
