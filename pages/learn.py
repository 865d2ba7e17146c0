"""Learn page: the ideas of the paper, one a screen, each with an interactive figure."""

import streamlit as st

from pll.errors import UserError
from pll.ui.error_messages import show_error
from pll.ui.learn import ambiguity, bound, in_browser, screens, sharing
from pll.ui.learn.layout import CHAPTERS

ON_OWN_DATA = {"ambiguity": ambiguity.draw, "bound": bound.draw}


def show(name: str) -> None:
    """One idea, with the ways to the others."""
    screens.bar(name)
    sharing.greet()
    st.title(CHAPTERS[name], anchor=False)
    if name in ON_OWN_DATA:
        ON_OWN_DATA[name]()
    else:
        in_browser.draw(name)
    screens.keys(name)


key = st.query_params.get(sharing.RESULTS_PART)
if key is None:
    show(screens.current())
else:
    try:
        sharing.results(key)
    except UserError as error:
        show_error(error, icon="link_off")
        st.button("Learn", key="learn-without-link", on_click=st.query_params.clear)
