"""The compare page: choose lanes, watch them take turns, read what they show."""
