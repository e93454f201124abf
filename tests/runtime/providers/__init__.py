"""Every provider is held to one behaviour matrix, and to what is its own."""
