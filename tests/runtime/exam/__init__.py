"""Tests of the model exam."""
