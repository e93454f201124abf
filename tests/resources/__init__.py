"""Tests of the room resources."""
