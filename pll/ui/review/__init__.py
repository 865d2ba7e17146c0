"""The review page: an example, its candidates as keys, and how far it is to the certificate."""
