"""Tables in: any frame, array or file, validated, and boiled down to its moments in one pass."""
