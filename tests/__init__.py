"""Tests that mirror the tree of rooms, with end-to-end runs and the walls beside them."""
