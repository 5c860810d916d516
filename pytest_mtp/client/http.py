"""One server over HTTP: an Ask in, an Exchange out, and never an exception for what a server or a network did."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx
import tenacity

from pytest_mtp.client.answer import Answer, read_answer
from pytest_mtp.client.decoding import ACCEPTED, pieces
from pytest_mtp.client.faults import fault_of_exception
from pytest_mtp.client.flight import Clock, Flight, under_way
from pytest_mtp.client.proxies import proxy_for
from pytest_mtp.client.received import Received
from pytest_mtp.client.redaction import bare_url, masked_headers, scrubbed, without_key
from pytest_mtp.client.retry import RetryPolicy
from pytest_mtp.client.transport import DeadlineTransport
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Attempt, Exchange, Fault
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.core.protocols import Fetched

CONNECT_S = 10.0
FETCH_S = 30.0
MAX_BODY = 64 << 20
MAX_PAGE = 8 << 20
_HOPS = 3


class HttpClient:
    """Thread-safe. Connections are kept and reused; a proxy of the environment is never used for this machine itself."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        api_key: str | None = None,
        timeout_s: float = 120,
        retry: RetryPolicy | None = None,
        max_body: int = MAX_BODY,
        transport: httpx.BaseTransport | None = None,
        clock: Clock = time.perf_counter_ns,
    ) -> None:
        """`timeout_s` limits one whole attempt, from connecting to the last byte. Raises UsageError for an unusable address or key."""
        self._endpoint, self._timeout_s, self._max_body, self._clock = endpoint, timeout_s, max_body, clock
        self._retry = retry or RetryPolicy()
        self._key = _usable(api_key)
        schemes = {_scheme(endpoint.root), _scheme(endpoint.api_root)}
        headers = {"user-agent": "pytest-mtp", "accept": "application/json, text/event-stream", "accept-encoding": ACCEPTED}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        nothing_kept = DefaultCookiePolicy(allowed_domains=[])  # each request alike: no cookie pins us to one replica
        self._http = httpx.Client(
            transport=transport or DeadlineTransport(tls="https" in schemes, proxy=proxy_for(endpoint.api_root)),
            headers=headers,
            cookies=CookieJar(policy=nothing_kept),
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            trust_env=False,  # ~/.netrc must not decide who we are
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        """Without the key."""
        return f"HttpClient({bare_url(self._endpoint.api_root)!r}, model={self._endpoint.model!r})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def ask(self, ask: Ask, *, retried: bool = True) -> Exchange:
        """One exchange, retries inside unless `retried` is False. Raises UsageError for an ask that cannot be written as JSON."""
        body = ask.body(self._endpoint.model)
        content = _encoded(body)
        url = f"{self._endpoint.api_root}/chat/completions"
        attempts: list[Attempt] = []
        pauses = [0.0]

        def one_try() -> Answer:
            answer = self._post(url, content, stream=bool(body.get("stream")))
            attempts.append(Attempt(duration_s=answer.duration_s, waited_s=pauses[-1], fault=answer.fault))
            return answer

        def pause(state: tenacity.RetryCallState) -> float:
            fault = attempts[-1].fault
            wanted = self._retry.pause_s(state.attempt_number, fault) if fault else 0.0
            # All pauses of one ask together stay within its time limit, whatever Retry-After says.
            pauses.append(max(0.0, min(wanted, self._timeout_s - sum(pauses))))
            return pauses[-1]

        answer: Answer = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._retry.retries + 1 if retried else 1),
            wait=pause,
            retry=tenacity.retry_if_result(lambda answer: answer.retriable),
            sleep=self._retry.sleep,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )(one_try)
        return Exchange(
            ask=ask,
            url=bare_url(url),
            model=self._endpoint.model,
            reply=answer.reply,
            fault=answer.fault,
            timeline=answer.timeline,
            attempts=tuple(attempts),
        )

    def abandon(self, ask: Ask, *, after_reads: int, patience_s: float) -> bool:
        """Send it and hang up after that many pieces of the answer, or after `patience_s` without them, as an impatient user does.

        True: it was cut short. False: the answer had ended before, or there was none to cut.
        """
        flight = Flight.of(patience_s, self._clock)
        url = f"{self._endpoint.api_root}/chat/completions"
        body = _encoded(ask.body(self._endpoint.model))
        request = self._http.build_request("POST", url, content=body, headers={"content-type": "application/json"})
        try:
            with under_way(flight):
                response = self._http.send(request, stream=True)
                try:
                    pieces = response.iter_raw()
                    for _ in range(after_reads):
                        if next(pieces, None) is None:
                            return False
                finally:
                    response.close()
        except httpx.TimeoutException:
            return flight.first_write_ns is not None
        except (httpx.HTTPError, httpx.InvalidURL):
            return False
        return response.is_success

    def _post(self, url: str, content: bytes, *, stream: bool) -> Answer:
        got = Received(Flight.of(self._timeout_s, self._clock), asked_stream=stream, max_body=self._max_body)
        request = self._http.build_request("POST", url, content=content, headers={"content-type": "application/json"})
        answer = read_answer(self._http, request, got, limit_s=self._timeout_s)
        if answer.reply is not None:
            return replace(answer, reply=without_key(answer.reply, self._key))
        return answer if answer.fault is None else replace(answer, fault=self._scrubbed(answer.fault))

    def _scrubbed(self, fault: Fault) -> Fault:
        headers = {name: scrubbed(value, self._key) for name, value in (fault.headers or {}).items()}
        return replace(fault, message=scrubbed(fault.message, self._key), body=scrubbed(fault.body, self._key), headers=headers or None)

    def fetch(self, path: str) -> Fetched:
        """GET below the root. Redirects are followed on the same origin alone (`/metrics` to `/metrics/`).

        Asked again only where a kept connection had ended before we wrote on it: servers close idle ones, and a page of counters
        that is lost that way would look as if there were none.
        """
        if "://" in path or path.startswith("//"):
            raise ValueError(f"a path below the server's root is expected, got {bare_url(path, query=False)!r}")
        url = f"{self._endpoint.root.rstrip('/')}/{path.lstrip('/')}"
        got, stale = self._fetched(url)
        return self._fetched(url)[0] if stale else got

    def _fetched(self, url: str) -> tuple[Fetched, bool]:
        """One try, and whether it met a kept connection that had ended."""
        limit_s = min(self._timeout_s, FETCH_S)
        flight = Flight.of(limit_s, self._clock)
        try:
            with under_way(flight):
                return self._get(httpx.URL(url), _HOPS), False
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            ended = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError))
            stale = ended and not flight.connected and flight.first_write_ns is not None and not flight.first_bytes
            fault = fault_of_exception(error, url=url, waited="while fetching", limit_s=limit_s)
            return Fetched(fault=self._scrubbed(fault)), stale

    def _get(self, url: httpx.URL, hops: int) -> Fetched:
        with self._http.stream("GET", url) as response:
            body = bytearray()
            for data in pieces(response):
                body += data
                if len(body) > MAX_PAGE:
                    break
            headers = masked_headers(response.headers.multi_items())
            status = response.status_code
            encoding = response.charset_encoding or "utf-8"
        target = url.join(headers["location"]) if 300 <= status < 400 and "location" in headers else url
        if target != url and hops and (target.scheme, target.netloc) == (url.scheme, url.netloc):
            return self._get(target, hops - 1)
        text = scrubbed(_decoded(bytes(body[:MAX_PAGE]), encoding), self._key)  # sglang's server info shows it
        return Fetched(status=status, text=text, headers={name: scrubbed(value, self._key) for name, value in headers.items()})


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding, errors="replace")
    except LookupError:
        return body.decode(errors="replace")


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a lone surrogate can only travel escaped
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"the request cannot be written as JSON: {error}") from None


def _scheme(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UsageError(f"{bare_url(url, query=False)!r} is no http(s) address, for example http://127.0.0.1:8000/v1")
    return parsed.scheme


def _usable(key: str | None) -> str | None:
    """Without the newline that secret files like to end in. Never shows the key."""
    stripped = (key or "").strip()
    if not all("!" <= char <= "~" for char in stripped):
        raise UsageError("the API key holds characters that no HTTP header may carry; check the variable that --mtp-api-key-env names")
    return stripped or None
