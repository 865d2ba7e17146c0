"""Analysis of results: intervals, calibration, comparison reports, and the theory of the paper."""
