"""Tests of the live pane."""
