"""The model exam: two minutes that show what a model file can do on this machine."""
