"""Speech and transcriptions for other programs, over HTTP in the form of OpenAI's audio interface."""
