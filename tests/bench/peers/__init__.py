"""The same measurements through other programs; the scripts here run in the environment build/peers."""
