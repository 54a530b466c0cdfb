"""The parts of the Debug page: cases, tasks, and one panel for each question that a failed certificate raises."""
