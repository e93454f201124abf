"""Local servers that speak the wire formats of services which tests cannot reach."""
