"""Local weights and the child process that runs them; this room knows no agent and no window."""
