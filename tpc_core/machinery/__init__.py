"""Small machinery that knows nothing of clouds: files that are written whole, the user's folders, and threads."""
