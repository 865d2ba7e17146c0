"""Download of the certificate of all labels, where a promise about them was made."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from pll.errors import UserError
from pll.export.certificate_page import certificate_html
from pll.review.dataset_certificate import final_frame
from pll.review.session import ReviewSession
from pll.runs.run import Run
from pll.ui.format import count, plain
from pll.ui.review import service
from pll.ui.routes import link


def draw(run: Run) -> None:
    """The certificate of the labels under review, as files; nothing where nothing was promised."""
    if not service.is_begun(run):
        return
    review = service.manager_of(run).review
    review.refresh()
    if review.promise_made is None or review.current.run != run.id:
        return
    st.subheader("Certificate of all labels")
    waiting = len(review.promise_made.status(review.state, review.asked).cut.waiting)
    if waiting:  # which they are must not be shown to reviewers
        st.info(f"{count(waiting, 'control')} must be answered first.", icon=":material/hourglass_bottom:")
        link("review", "Go on reviewing", run=run.id)
        return
    try:
        document, final = made(review, run.config.name or run.config.source.name)
    except UserError as error:
        st.info(plain(error), icon=":material/hourglass_bottom:")
        link("review", "Go on reviewing", run=run.id)
        return
    st.caption(document["result"]["statement"])
    files = {
        "certificate.json": ("Certificate (JSON)", json.dumps(document, ensure_ascii=False), "application/json"),
        "certificate.html": ("Certificate to read (HTML)", certificate_html(document), "text/html"),
        "final.csv": ("All labels, as accepted (CSV)", final, "text/csv"),
    }
    for file_name, (label, data, mime) in files.items():
        st.download_button(
            f"{label} · {file_name}",
            data=data,
            file_name=file_name,
            mime=mime,
            key=f"export-{file_name}",
            icon=":material/verified_user:" if file_name != "final.csv" else ":material/download:",
            type="tertiary",
            on_click="ignore",
        )
    st.caption("Anyone can check it: `candid verify certificate.json` makes every figure anew from the file alone.")


def made(review: ReviewSession, name: str) -> tuple[dict[str, Any], str]:
    """The certificate, and final.csv.

    Raises:
        UserError: a control that matters is not answered yet.
    """
    promise = review.promise_made
    assert promise is not None
    with review.store.read(review.id) as reader:
        audit = reader.last_hash()
    document = promise.certificate(
        review.state, review.asked, name=name, audit=audit, reviewers_err=review.record.overlap > 1
    )
    decisions = promise.decisions(review.state, review.asked)
    frame = final_frame(promise.table, decisions, promise.judgement(decisions))
    return document, frame.to_csv(index=False, lineterminator="\n")
