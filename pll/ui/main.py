"""Entry script of every page run: title, navigation, address."""

from pathlib import Path

import streamlit as st

from pll.paths import app_root
from pll.ui import login, session
from pll.ui.routes import PAGES
from pll.ui.view_state import hides_navigation

HERE = Path(__file__).parent
ASSETS = app_root() / "assets"

st.set_page_config(page_title="Candid", page_icon=str(ASSETS / "icon.svg"), layout="wide")
st.logo(str(ASSETS / "logo.svg"), size="large")
st.html(HERE / "frame.css")
login.require()
session.settle_address()
st.navigation([st.Page(**page) for page in PAGES.values()], position="hidden" if hides_navigation() else "top").run()
login.menu()
login.go_back()
session.address_is_sent()
