"""Names that somebody vouches for: logging in at an OpenID Connect provider, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import Server, prepared_run
from pll.runs.access import Access, write_access
from tests.browser.identity import CLIENT, SECRET, provider
from tests.review_helpers import on_disk

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NewPage = Callable[..., Any]
ADA = {"sub": "42", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True}


def test_a_login_leads_back_to_the_review_and_decisions_carry_the_verified_name(
    tmp_path: Path, new_page: NewPage
) -> None:
    run_id = prepared_run(tmp_path, 60)
    write_access(tmp_path / "runs" / run_id, Access("ada@example.org"))
    secrets = tmp_path / "secrets.toml"
    server = Server(tmp_path, f"--secrets.files={secrets}")
    with provider(f"{server.url}/oauth2callback") as identity:
        identity.claims = ADA
        secrets.write_text(
            f"""[auth]
redirect_uri = "{server.url}/oauth2callback"
cookie_secret = "long enough to be a secret, and known to nobody"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{identity.url}/.well-known/openid-configuration"
"""
        )
        server.start()
        try:
            page = new_page()
            page.goto(f"{server.url}/review?run={run_id}")
            log_in = page.get_by_role("button", name="Log in", exact=True)
            log_in.wait_for()
            assert not page.locator(".desk").count()  # strangers begin nothing
            log_in.click()
            page.locator(".desk .pick").first.wait_for()
            assert page.url == f"{server.url}/review?run={run_id}"
            page.get_by_role("button", name="Ada Lovelace").wait_for()
            page.wait_for_timeout(300)
            page.keyboard.press(page.locator(".desk .pick kbd").first.inner_text())
            page.wait_for_function("performance.getEntriesByName('candid-key-to-next').length > 0")
            page.goto(server.url)  # nothing is remembered any more: Home stays Home
            page.get_by_role("button", name="Watch it work").wait_for()
            page.wait_for_timeout(300)
            assert "/review" not in page.url
        finally:
            server.kill()
    assert (identity.refused, identity.logins) == ([], 1)
    (event,), (opened,) = on_disk(tmp_path, run_id)
    assert (event.kind, event.reviewer, event.verified) == ("pick", "Ada Lovelace (ada@example.org)", True)
    assert (opened.how, opened.opened_by, opened.verified) == ("first", "Ada Lovelace (ada@example.org)", True)
