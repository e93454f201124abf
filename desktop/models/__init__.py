"""The parts of the models page: cards, badges, downloads, the exam's progress, and what is taken in."""
