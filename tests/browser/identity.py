"""A tiny OpenID Connect provider: whoever comes is the person it was told, without a question.

Authorization code flow with PKCE, as real providers do it: discovery, authorization, token, keys. It checks what they
check (client, secret, redirect, verifier), and remembers what went wrong.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "candid", "a secret between the two"


class Provider:
    """The provider; `claims` are those of the person who logs in next."""

    def __init__(self, redirect: str) -> None:
        self.claims: Mapping[str, Any] = {}
        self.refused: list[str] = []
        self.logins = 0
        self.url = ""
        self._redirect = redirect
        self._key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, dict[str, str]] = {}

    def discovery(self) -> dict[str, Any]:
        """What `.well-known/openid-configuration` says."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def keys(self) -> dict[str, Any]:
        """The public key."""
        return {"keys": [self._key.as_dict(private=False)]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent: back, with a code."""
        wanted = {"client_id": CLIENT, "redirect_uri": self._redirect, "response_type": "code"}
        self.refused += [name for name, value in wanted.items() if asked.get(name) != value]
        if "openid" not in asked.get("scope", "") or asked.get("code_challenge_method") != "S256":
            self.refused.append("scope or code_challenge_method")
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str], authorization: str) -> dict[str, Any]:
        """The signed claims, for a code."""
        asked = self._codes.pop(given["code"])
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest())
        if challenge.rstrip(b"=").decode() != asked["code_challenge"]:
            self.refused.append("code_verifier")
        if authorization != "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode():
            self.refused.append("client_secret")
        now = int(time.time())
        about = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        self.logins += 1
        return {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": jwt.encode({"alg": "RS256", "kid": "one"}, about | dict(self.claims), self._key),
        }


@contextmanager
def provider(redirect: str) -> Iterator[Provider]:
    """A provider on a port of its own, which sends people back to `redirect`."""
    made = Provider(redirect)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = urlsplit(self.path)
            if at.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", made.authorize(_flat(at.query)))
                self.end_headers()
                return
            self._send(made.keys() if at.path == "/keys" else made.discovery())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(made.token(_flat(body), self.headers.get("Authorization", "")))

        def _send(self, told: dict[str, Any]) -> None:
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def _flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
