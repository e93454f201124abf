"""Tests of the pages beside the chat."""
