"""Writes the labels of a run into the Label Studio project that uses it as its model, by Label Studio's API.

What is written are predictions with our confidence as score, those that Label Studio would get if it asked
(`Backend.predict`): a second time, the predictions of the same model version are updated. A label that a person gave
is a prediction with score 1. It is not written as an annotation, since Label Studio's API would name the owner of the
token as its annotator, and a webhook would bring it back here.

What this file is not about: where the token is kept, and for how long (`pll.ui.labelstudio`).

References
----------
https://api.labelstud.io: `GET /api/projects/{id}`, `GET /api/tasks`, `POST /api/projects/{id}/import/predictions`,
`PATCH /api/predictions/{id}`, as Label Studio 1.23 answers them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pll.errors import UserError
from pll.export.labelstudio import Backend, Json, choices_of
from pll.runs.background import Report

TASKS_A_PAGE = 100
"""Tasks read and predictions written by one request."""
CONNECT_AND_ANSWER_SECONDS = (5.0, 60.0)
"""Seconds until a connection stands, and until an answer begins."""

REFUSED = {
    401: "Label Studio refuses the token that it sent: there, switch on Organization → API Tokens Settings → Legacy "
    "Tokens, then open Settings → Model of the project, which sends the token again.",
    403: "The user who created the project in Label Studio may not write its predictions.",
    404: "Label Studio has no such project or prediction any more.",
}
"""Status of an answer → what it means. Label Studio 1.23 sends the legacy token of whoever created the project."""


@dataclass(frozen=True)
class StudioAccess:
    """Where Label Studio is, and what opens its API.

    Attributes
    ----------
    hostname : str
        Address without a slash at its end.
    project : int
        Id of the project.
    token : str
        Not part of the `repr`.
    """

    hostname: str
    project: int
    token: str = field(repr=False)

    @classmethod
    def of(cls, setup: Json) -> StudioAccess:
        """Return what the request `setup` of Label Studio contains.

        Raises
        ------
        UserError
            The address is no http or https address, or the token or project is missing. The message has no token.

        Examples
        --------
        >>> StudioAccess.of({"hostname": "http://studio:8080/", "project": "3.1700000000", "access_token": "a1"})
        StudioAccess(hostname='http://studio:8080', project=3)
        """
        hostname, token = str(setup.get("hostname") or "").rstrip("/"), str(setup.get("access_token") or "")
        try:
            parts = urlsplit(hostname)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or parts.username is not None or parts.query or parts.fragment or not hostname.isprintable():
            raise UserError("The address that Label Studio gave of itself is not one. Set LABEL_STUDIO_HOST there.")
        project = re.match(r"\d{1,18}(?=\.|$)", str(setup.get("project")))
        if project is None or not re.fullmatch(r"[\w.-]{1,1000}", token, re.ASCII):  # anything else is no header
            raise UserError("Label Studio sent no token or no project.")
        return cls(hostname, int(project.group()), token)


def write_back(backend: Backend, access: StudioAccess, report: Report) -> str:
    """Write the current labels of a run as predictions of the project's tasks.

    Parameters
    ----------
    backend : Backend
        Of the run.
    access : StudioAccess
        From the latest `setup`.
    report : callable
        Called with the progress; it may raise to stop.

    Returns
    -------
    str
        What was written, and what was not.

    Raises
    ------
    UserError
        Label Studio cannot be reached or refuses; what was written before stays.
    """
    backend.queue.adopt_retrained()
    api = Api(access)
    project = f"projects/{access.project}"
    seen = created = updated = unchanged = refused = 0
    try:
        question = backend.question(str(api.send("GET", project)["label_config"]))
        for tasks, total in api.tasks():
            new = []
            for task, prediction in zip(tasks, backend.predict_known(tasks, question), strict=True):
                report("tasks", seen, total)
                seen += 1
                if prediction is None:
                    continue
                before = [one for one in task["predictions"] if one["model_version"] == prediction["model_version"]]
                outdated = [one for one in before if _answer(one) != _answer(prediction)]
                for one in outdated:
                    api.send("PATCH", f"predictions/{int(one['id'])}/", prediction)
                updated += bool(outdated)
                unchanged += bool(before and not outdated)
                if not before:
                    new.append({"task": task["id"]} | prediction)
            if new:  # Label Studio leaves out what does not fit the project, without an error
                written = int(api.send("POST", f"{project}/import/predictions", new)["created"])
                created, refused = created + written, refused + len(new) - written
    except UserError as error:
        so_far = f" {created + updated} predictions were written before; write again to go on." if seen else ""
        raise UserError(f"{error}{so_far}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UserError(f"What answers at {access.hostname} is no Label Studio that Candid knows (1.23).") from None
    unknown = seen - created - updated - unchanged - refused
    sentences = [f"{created} predictions written, {updated} updated, {unchanged} as they were."]
    if unknown:
        sentences.append(f"{unknown} tasks are not examples of this run.")
    if refused:
        sentences.append(
            f"Label Studio refused {refused} whose label is no choice of its labelling interface: add it there."
        )
    return " ".join(sentences)


class Api:
    """Label Studio's API. Messages of its errors contain neither the token nor what the other side answered.

    Parameters
    ----------
    access : StudioAccess
        Address and token.
    """

    def __init__(self, access: StudioAccess) -> None:
        import requests  # only this needs it here, and it takes a tenth of a second

        self._access = access
        self._session = requests.Session()
        self._unreachable = requests.RequestException

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Return the JSON that a request is answered with.

        Parameters
        ----------
        method
            Of HTTP.
        path
            Below `/api/`.
        body
            Sent as JSON; None for nothing.

        Raises
        ------
        UserError
            There is no answer, or it is an error.
        """
        where = self._access.hostname
        try:
            answer = self._session.request(
                method,
                f"{where}/api/{path}",
                params=query,
                json=body,
                auth=self._authorize,
                timeout=CONNECT_AND_ANSWER_SECONDS,
                allow_redirects=False,  # the token is for this address alone
            )
            content = answer.json() if answer.ok and not answer.is_redirect else None
        except self._unreachable as error:
            raise UserError(
                f"There is no Label Studio at {where} ({type(error).__name__}). It gave this address of itself: if it "
                "is not the one that Candid's server reaches it at, set LABEL_STUDIO_HOST in Label Studio."
            ) from None
        if answer.is_redirect:
            raise UserError(
                f"{where} redirects to another address, which Candid does not follow. Set LABEL_STUDIO_HOST in Label "
                "Studio to the address that answers."
            )
        if not answer.ok:
            raise UserError(
                REFUSED.get(answer.status_code, f"Label Studio answered {method} {path} with {answer.status_code}.")
            )
        return content

    def tasks(self) -> Iterator[tuple[list[dict[str, Any]], int]]:
        """Yield the tasks of the project with their predictions, a page at a time, and how many there are in all."""
        seen, page, total = 0, 1, 1
        while seen < total:
            fields = {"fields": "all", "include": "id,data,predictions", "resolve_uri": "false"}
            answer = self.send(
                "GET", "tasks", project=self._access.project, page=page, page_size=TASKS_A_PAGE, **fields
            )
            tasks, total = answer["tasks"], int(answer["total"])
            if not tasks:
                return
            yield tasks, total
            seen, page = seen + len(tasks), page + 1

    def _authorize(self, request: Any) -> Any:
        """Add the token. As `auth` of requests: a header of its own would give way to one of a netrc file."""
        request.headers["Authorization"] = f"Token {self._access.token}"
        return request


def _answer(prediction: Json) -> tuple[list[str], Any]:
    return choices_of(prediction), prediction.get("score")
