"""Tests of models/toolformat."""
