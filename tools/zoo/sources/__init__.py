"""The sources of networks, one a file."""
