"""The transcript of one conversation: rows painted from cached documents, real widgets where they are used."""
