"""What a run may take: seconds and bytes."""
