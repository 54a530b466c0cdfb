"""Small machinery that knows nothing of clouds: files that are written whole, and threads."""
