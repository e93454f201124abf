"""The agent itself: sessions, the loop, providers, tools and the terminal, in plain asyncio without Qt."""
