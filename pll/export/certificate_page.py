"""A certificate as one HTML page for people: no scripts, nothing from elsewhere, light and dark, ready to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from pll.review.certificate import INFORMATION
from pll.wording import percent

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; --ok: #1a7f4b; }
@media (prefers-color-scheme: dark) { :root { --quiet: #aaa; --ok: #4cc38a; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; } h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p { margin: .4rem 0; } .quiet { color: var(--quiet); font-size: .9rem; }
.claim { border-left: 4px solid var(--ok); padding: .25rem 0 .25rem 1rem; margin: 1.25rem 0; font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: .8rem; overflow-wrap: anywhere; } li { margin: .2rem 0; }
@media print { body { margin: 0 auto; font-size: 12px; } }
"""


def certificate_html(document: Mapping[str, Any]) -> str:
    """Return the page of a certificate (`pll.review.certificate.certificate_document`)."""
    plan, result, labels = document["plan"], document["result"], document["labels"]
    information = document[INFORMATION]
    title = "Certificate of labels"
    rows = [
        (
            "Target",
            f"at most {percent(plan['error'], None)} of all labels wrong, {plan['confidence']:.4g} confidence",
        ),
        ("Labels", f"{labels['n']:,}"),
        ("Accepted, nobody has looked at them", f"{result['accepted_unseen']:,}"),
        ("Looked at by people", f"{result['looked_at']:,}"),
        ("Still to be looked at", f"{result['to_be_looked_at']:,}"),
        ("People could not tell", f"{result['unsure']:,}"),
        ("None of these; without a label", f"{result['refused']:,}"),
        ("Random controls", f"{plan['controls']:,}, of which {result['wrong_controls']:,} were wrong"),
        (
            "Wrong ones among the accepted",
            f"{result['wrong_controls_inside']:,} (the rule tolerates {plan['tolerated']:,})",
        ),
        ("Wrong labels at most", f"{result['bound']:,} ({percent(result['bound_share'], 2)})"),
        ("Risk that the rule allows too many", f"{result['attained_alpha']:.5f}, computed exactly"),
    ]
    hashes = [
        ("Fingerprint of the labels", labels["fingerprint"]),
        ("Hash fixed before the first answer", plan["draw_hash"]),
        ("Seed of the draw", str(plan["seed"])),
        ("Draws of these labels", str(plan["draw_number"]) if plan["draws_counted"] else "not known"),
        ("Hash of the last decision", document["decisions"][-1]["hash"] if document["decisions"] else "no decisions"),
        ("Hash of this certificate", document["hash"]),
    ]
    sentences = [
        ("Name", information["name"] or "none"),
        ("Controls drawn", information["planned_at"]),
        ("Certificate made", f"{information['made_at']}, Candid {information['candid']}"),
        *(
            (one["name"] or "Reviewer not recorded", f"{one['decisions']:,} decisions")
            for one in information["reviewers"]
        ),
    ]
    if information["audit"]:
        sentences.append(("Hash of the audit trail", information["audit"]))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p class="claim">{escape(result["statement"])}</p>
{_table(rows)}
{_notes(document["notes"])}
<h2>The rule</h2>
<p>{escape(plan["rule"])}</p>
<h2>What is taken on trust</h2>
<ul>{"".join(f"<li>{escape(one)}</li>" for one in document["taken_on_trust"])}</ul>
<h2>To check it</h2>
<p>The file certificate.json holds the labels, the draw and every decision. <code>candid verify certificate.json</code>
makes all figures and sentences anew from it, and names what was altered.</p>
{_table(hashes, code=True)}
<h2>Not part of the proof</h2>
<p class="quiet">Names and dates, as they were given; nothing shows that they are right.</p>
{_table(sentences)}
</body></html>
"""


def _table(rows: Iterable[tuple[str, str]], *, code: bool = False) -> str:
    cells = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{'<code>' * code}{escape(value)}{'</code>' * code}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def _notes(notes: Iterable[str]) -> str:
    return "".join(f"<p><strong>Note:</strong> {escape(one)}</p>" for one in notes)
