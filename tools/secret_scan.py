"""Look for secrets in the tracked files: `python -m tools.secret_scan`; exit status 1 where there is one.

Keys and tokens of known forms, and assignments of long literals to names such as `password`. A line that is meant to
be there ends with `secret-scan: ok` and a reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORMS = {
    "private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:ghp|gho|ghs|ghu|github_pat)_[0-9A-Za-z_]{30,}\b",
    "GitLab token": r"\bglpat-[0-9A-Za-z_-]{20,}",
    "Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{20,}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "Hugging Face token": r"\bhf_[0-9A-Za-z]{34}\b",
    "PyPI token": r"\bpypi-AgEIcHlwaS5vcmc[0-9A-Za-z_-]{40,}",
    "secret": r"(?i)\b(?:passw(?:or)?d|api_?key|(?:cookie_|client_)?secret)\s*[:=]\s*[\"'][0-9A-Za-z+/_=-]{20,}[\"']",
}
"""What it is → regular expression."""
ALLOWED = "secret-scan: ok"
LARGEST = 2 * 2**20
"""Bytes of a file that is read."""


def secrets_in(text: str) -> list[tuple[int, str]]:
    """Return (line, what) for every secret in a text.

    Examples
    --------
    >>> secrets_in("a = 1\\nkey = 'AKIA" + "A" * 16 + "'")
    [(2, 'AWS key')]
    """
    return [
        (number, what)
        for number, line in enumerate(text.splitlines(), 1)
        if ALLOWED not in line
        for what, form in FORMS.items()
        if re.search(form, line)
    ]


def main() -> int:
    """Scan every tracked file; print what was found, and where, but not the secret."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    count = 0
    for name in filter(None, listed.split("\0")):
        file = ROOT / name
        if file.is_file() and file.stat().st_size <= LARGEST:
            for line, what in secrets_in(file.read_text(encoding="utf-8", errors="ignore")):
                print(f"{name}:{line}: {what}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
