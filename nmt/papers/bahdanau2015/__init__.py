"""Bahdanau, Cho and Bengio (2015): the tables and figures of the paper, and the numbers that it prints."""
