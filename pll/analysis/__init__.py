"""Analysis of results: evaluation, intervals, calibration, comparison reports, and the theory of the paper."""
