"""Return to the page where the login was started; the identity provider sends everybody to the first page.

The browser tab itself remembers the link (sessionStorage, so that no other tab and no server hears of it).
"""

from __future__ import annotations

import streamlit as st

KEPT = "candid-after-login"
REMEMBER = f"""
export default function () {{
  sessionStorage.setItem("{KEPT}", location.pathname + location.search);
}}
"""
GO_BACK = f"""
export default function () {{
  const link = sessionStorage.getItem("{KEPT}");
  sessionStorage.removeItem("{KEPT}");
  if (link && /^\\/[^\\/\\\\]/.test(link) && link !== location.pathname + location.search) location.replace(link);
}}
"""

_remember = st.components.v2.component("candid_remember", js=REMEMBER)
_go_back = st.components.v2.component("candid_go_back", js=GO_BACK)


def remember() -> None:
    """Somebody is about to log in here."""
    _remember(key="remember-after-login", height=0)


def go_back() -> None:
    """Somebody has logged in: where this tab remembers a link, it opens that. To be called at the end of every page."""
    if getattr(st.user, "is_logged_in", False):
        _go_back(key="go-back-after-login", height=0)
