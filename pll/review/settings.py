"""How a review is begun, and what makes no sense there."""

from __future__ import annotations

from dataclasses import dataclass, field

from pll.errors import UserError
from pll.review.rounds import Promise


@dataclass(frozen=True)
class Settings:
    """How a review is begun; all of it can be changed later (`ReviewSession.configure`, `.new_promise`).

    Attributes:
        overlap: reviewers asked per example, on `overlap_share` of the examples; one on the others.
        overlap_share: in [0, 1].
        mix: share of what is handed out that are random controls, in [0, 1]; 0 for none, 1 for controls only.
        promise: of the certificate.
        hold: seconds until an example goes back to the others when nothing is heard of the reviewer.
        begun_by, verified: who begins it, and whether somebody vouched for that name.
    """

    overlap: int = 1
    overlap_share: float = 1.0
    mix: float = 0.1
    promise: Promise = field(default_factory=Promise)
    hold: float = 600.0
    begun_by: str | None = None
    verified: bool = False


def check_settings(settings: Settings) -> None:
    """Raises UserError where a setting is out of range; the promise is checked where its controls are drawn."""
    if not 1 <= settings.overlap <= 100:
        raise UserError(f"Ask 1 to 100 reviewers per example, not {settings.overlap}.")
    for name in ("overlap_share", "mix"):
        value = getattr(settings, name)
        if not 0 <= value <= 1:
            raise UserError(f"{name} is {value}; it must lie between 0 and 1.")
    if not settings.hold > 0:
        raise UserError(f"Examples are held for {settings.hold} seconds; that must be above 0.")
