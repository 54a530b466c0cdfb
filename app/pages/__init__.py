"""The pages: each reads from top to bottom like the screen it draws."""
