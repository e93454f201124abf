"""Tests of the room installer."""
