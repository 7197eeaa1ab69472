"""The statements of the paper, each checked against the definitions on many graphs."""
