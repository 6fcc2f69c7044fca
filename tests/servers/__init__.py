"""Servers that tests and benchmarks ask over HTTP: a scripted one, and a real small model. No test stands here."""
