"""The Qt application: the window a person sees, and the only room that imports PySide6."""
