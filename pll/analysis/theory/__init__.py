"""The theory of the paper on one's own data: ambiguity degree and error bound."""
