"""Measurements of the goals of speed, each beside a reference from the same run."""
