"""The theory of the paper on small examples: risk, ambiguity degree, error bound, a two-dimensional toy."""
