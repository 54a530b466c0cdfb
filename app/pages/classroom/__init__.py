"""The page of a class: who is here, and how the queue goes."""
