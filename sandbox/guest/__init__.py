"""The part of the sandbox that runs inside the container, on Debian's Python; it imports no other room."""
