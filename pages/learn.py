"""Learn page: the ideas of the paper, one a screen, each with an interactive figure."""

import streamlit as st

from pll.ui.learn import ambiguity, bound, screens
from pll.ui.learn.layout import CHAPTERS

ON_OWN_DATA = {"ambiguity": ambiguity.draw, "bound": bound.draw}

idea = screens.current()
screens.bar(idea)
st.title(CHAPTERS[idea], anchor=False)
if idea in ON_OWN_DATA:
    ON_OWN_DATA[idea]()
else:
    screens.in_browser(idea)
screens.keys(idea)
