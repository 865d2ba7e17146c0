"""Learn page: the ideas of the paper, each with an interactive figure."""

import streamlit as st

from pll.ui.learn import algorithm, ambiguity, bound, jin, minimum, partial, stuck, together, weights
from pll.ui.learn.layout import contents


@st.fragment
def toy_ideas() -> None:
    """Both ideas on the reader's points: what is done to the points in one is seen in the other."""
    algorithm.draw()
    together.draw()


st.title("How true labels are identified, step by step")
st.markdown(
    "The ideas of *Progressive Identification of True Labels for Partial-Label Learning* (Lv et al., ICML 2020), "
    "one at a time. Guess first, then change the figure. Every number is computed live, by the code that trains "
    "your runs."
)
st.caption(
    ":material/link: Your settings are part of this page's address. Copy it to share them; "
    "each heading has its own link."
)
contents()
partial.draw()
minimum.draw()
stuck.draw()
weights.draw()
toy_ideas()
ambiguity.draw()
bound.draw()
jin.draw()
