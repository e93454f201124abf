"""Speech in and speech out as text; this room knows no agent and no window."""
