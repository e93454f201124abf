"""The separate machine the agent may touch; this room knows no agent and no window."""
