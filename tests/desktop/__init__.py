"""Tests of the room desktop."""
