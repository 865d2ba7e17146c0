"""Entry script of every page run: title, navigation, address."""

from pathlib import Path

import streamlit as st

from pll.errors import UserError, explain
from pll.paths import app_root
from pll.ui import login, session, startup
from pll.ui.components.component import ARRIVAL, AWAY
from pll.ui.routes import MORE, PAGES
from pll.ui.widgets import show_error

HERE = Path(__file__).parent
ASSETS = app_root() / "assets"

st.set_page_config(page_title="Candid", page_icon=str(ASSETS / "icon.svg"), layout="wide")
st.logo(str(ASSETS / "logo.svg"), size="large")
st.html(HERE / "frame.css")
login.require()
session.settle_address()
pages = {name: st.Page(**page) for name, page in PAGES.items()}
page = st.navigation(
    {"": [page for name, page in pages.items() if name not in MORE], "More": [pages[name] for name in MORE]},
    position="hidden" if session.hides_navigation() else "top",
)
session.enter(page.url_path)
try:
    with startup.one_at_a_time():
        page.run()
except (UserError, OSError) as error:  # a damaged run, a full disk: what is on the page already stays
    show_error(explain(error))
ARRIVAL(key="arrival", data={"page": f"{page.url_path} {session.in_address()}"})
AWAY(key="away", data={})
login.menu()
login.go_back()
session.address_is_sent(page.url_path)
session.note_lent()
startup.FIRST_PAGE_SENT.set()
