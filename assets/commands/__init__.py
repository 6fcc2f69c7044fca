"""One module a command; heavy imports happen inside the function."""
