"""Prompts: templates, paper text fenced as data, and what in it tries to instruct."""
