"""Results: our tables beside the paper's."""
