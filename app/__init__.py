"""The explorer: pages that show what tpc_core knows. No mathematics lives here."""
