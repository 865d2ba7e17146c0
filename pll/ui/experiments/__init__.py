"""Parts of the Experiments page."""
