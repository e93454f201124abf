"""The live pane: the sandbox's screen beside the chat, the agent's actions and the user's hands on it."""
