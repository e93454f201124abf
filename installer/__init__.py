"""How a bare machine gets everything the house needs, and how the house is checked and frozen."""
