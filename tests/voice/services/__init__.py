"""Tests of the speech services."""
