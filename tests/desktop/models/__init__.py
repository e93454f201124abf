"""The parts of the models page, without a runtime."""
