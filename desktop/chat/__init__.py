"""The transcript of one conversation: rows painted from cached documents, real widgets where in use."""
