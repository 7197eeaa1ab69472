"""Numbers for an effect that is identified, and how fragile they are."""
