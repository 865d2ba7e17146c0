"""What the Learn page shows, computed by the library itself: a toy in the plane, risks, the error bound, γ."""
