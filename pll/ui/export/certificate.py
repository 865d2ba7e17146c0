"""The certificate of all labels on the export page, where one was begun."""

from __future__ import annotations

import streamlit as st

from pll.export import ExportSource, exporters_of
from pll.export.convert import certified_results
from pll.runs.run import Run
from pll.ui.export import download
from pll.ui.review import service
from pll.ui.routes import link

FILES = ("final", "certificate-page", "certificate")
"""What there is of it, by the names of `EXPORTS`."""


def draw(run: Run, source: ExportSource) -> None:
    """What the certificate says, and its labels; nothing where none was begun."""
    if not service.is_begun(run):
        return
    review = service.queue_of(run).review
    review.refresh()
    certification = review.latest_certification
    if certification is None or review.current.run != run.id:
        return
    if source.certified is None:
        st.info("These labels are not certified yet.", icon=":material/hourglass_bottom:")
        link("review", "Continue the review", run=run.id)
        return
    st.markdown(f"**Certified labels.** {source.certified.document['result']['statement']}")
    results = certified_results(run.folder, source)
    own = download.back(run, source, results=results, is_first=True)
    exporters = exporters_of(source)
    with st.container(horizontal=True, key="certificate"):
        for name in FILES:
            download.one_file(name, exporters[name], source, is_first=name == "final" and not own)
    st.caption("Anyone can check certificate.json: `candid verify certificate.json`.")
