"""Voices: text in, sound out, one module for each engine and one that chooses among them."""
