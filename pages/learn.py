"""Learn page: the ideas of the paper, one a screen, each with an interactive figure."""

import streamlit as st

from pll.errors import UserError
from pll.ui.format import plain
from pll.ui.learn import (
    algorithm,
    ambiguity,
    bound,
    jin,
    minimum,
    partial,
    screens,
    sharing,
    stuck,
    together,
    weights,
)

IDEAS = {
    "partial": partial.draw,
    "minimum": minimum.draw,
    "stuck": stuck.draw,
    "weights": weights.draw,
    "algorithm": algorithm.draw,
    "together": together.draw,
    "ambiguity": ambiguity.draw,
    "bound": bound.draw,
    "jin": jin.draw,
}


def show(name: str) -> None:
    """One idea, with the ways to the others."""
    screens.bar(name)
    sharing.greet()
    IDEAS[name]()
    screens.keys(name)


key = st.query_params.get(sharing.RESULTS)
if key is None:
    show(screens.current())
else:
    try:
        sharing.results(key)
    except UserError as error:
        st.error(plain(error), icon=":material/link_off:")
        st.button("Learn", key="learn-without-link", on_click=st.query_params.clear)
