"""Long campaigns that kill the program and its workers and look for what was lost."""
