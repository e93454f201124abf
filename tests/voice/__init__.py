"""Tests of the room voice."""
