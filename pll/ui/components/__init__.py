"""Components of the pages: star plot, heatmap, timeline, gallery."""
