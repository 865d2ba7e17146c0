"""The certificate of all labels on the export page, where a promise about them was made."""

from __future__ import annotations

import streamlit as st

from pll.export import ExportSource, parts_of
from pll.runs.run import Run
from pll.ui.export import download
from pll.ui.format import count
from pll.ui.review import service
from pll.ui.routes import link

FILES = ("certificate", "certificate-page", "final")
"""What there is of it, by the names of `EXPORTS`."""


def draw(run: Run, source: ExportSource) -> None:
    """What the certificate says, and its files; nothing where nothing was promised."""
    if not service.is_begun(run):
        return
    review = service.manager_of(run).review
    review.refresh()
    if review.promise_made is None or review.current.run != run.id:
        return
    st.subheader("Certificate of all labels")
    if source.certified is None:
        status = review.promise_made.status(review.state, review.asked)
        waiting = status.controls - status.answered
        # which they are must not be shown to reviewers
        needed = f"{count(waiting, 'control')} must be answered first" if waiting else "More decisions are needed first"
        st.info(f"{needed}.", icon=":material/hourglass_bottom:")
        link("review", "Continue the review", run=run.id)
        return
    st.caption(source.certified.document["result"]["statement"])
    parts = parts_of(source)
    for name in FILES:
        download.one_file(name, parts[name], source)
    st.caption("Anyone can check it: `candid verify certificate.json` computes every figure again from the file alone.")
