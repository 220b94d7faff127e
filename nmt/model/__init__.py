"""The equations of Section 3 and Appendix A."""
