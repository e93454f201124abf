"""Tests of the room `sandbox`."""
