"""Choi, Cho and Bengio (2017): the tables of the paper, and the numbers that it prints."""
