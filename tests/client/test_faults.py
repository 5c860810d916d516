"""Statuses and error bodies to the right kind, the right code, and the server's own words."""

from __future__ import annotations

import json
import ssl

import httpx
import pytest

from pytest_mtp.client.assemble import ProtocolError
from pytest_mtp.client.complaint import complaint_of
from pytest_mtp.client.faults import BODY_SHOWN, excerpt, fault_of_exception, fault_of_protocol, fault_of_status
from pytest_mtp.core.exchange import Fault

URL = "http://h:8000/v1/chat/completions"


def status(code: int, body: object = "", headers: dict[str, str] | None = None) -> Fault:
    return fault_of_status(code, headers=headers or {}, body=body if isinstance(body, str) else json.dumps(body), url=URL)


VLLM_MODEL = {
    "error": {"message": "The model `nope` does not exist. Valid aliases: smollm2.", "type": "NotFoundError", "param": "model", "code": 404}
}
OPENAI_MODEL = {"error": {"message": "The model 'x' does not exist or you do not have access to it.", "code": "model_not_found"}}
OLLAMA_MODEL = {"error": {"message": 'model "x" not found, try pulling it first', "type": "api_error"}}
LITELLM_MODEL = {"error": {"message": "/chat/completions: Invalid model name passed in model=x", "code": "400"}}
MLX_TEMPLATE = {"error": "Cannot apply chat template to an empty conversation"}
LLAMA_PATH = {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
CONTEXT = {"error": {"code": 400, "message": "This model's maximum context length is 2048 tokens.", "param": "input_tokens"}}
NO_TOOLS = {"error": {"code": 400, "message": "The model `m` does not support tools"}}


@pytest.mark.parametrize(
    ("code", "body", "kind", "finding"),
    [
        pytest.param(401, "", "auth", "INFRA.auth", id="401"),
        pytest.param(403, "<html>WAF</html>", "auth", "INFRA.auth", id="403"),
        pytest.param(407, "", "auth", "INFRA.auth", id="407"),
        pytest.param(404, VLLM_MODEL, "not_found", "INFRA.model", id="vllm-model"),
        pytest.param(404, OPENAI_MODEL, "not_found", "INFRA.model", id="openai-model"),
        pytest.param(404, OLLAMA_MODEL, "not_found", "INFRA.model", id="ollama-model"),
        pytest.param(400, LITELLM_MODEL, "not_found", "INFRA.model", id="litellm-model"),
        pytest.param(404, {"detail": "Not Found"}, "not_found", "INFRA.path", id="fastapi-path"),
        pytest.param(404, LLAMA_PATH, "not_found", "INFRA.path", id="llamacpp-path"),
        pytest.param(404, "404 page not found", "not_found", "INFRA.path", id="go-path"),
        pytest.param(404, "<html><title>404 Not Found</title></html>", "not_found", "INFRA.path", id="nginx-path"),
        pytest.param(404, "", "not_found", "INFRA.path", id="nothing-at-all"),
        pytest.param(405, {"detail": "Method Not Allowed"}, "not_found", "INFRA.path", id="405"),
        pytest.param(501, "Unsupported method ('POST')", "not_found", "INFRA.path", id="501"),
        pytest.param(308, "", "not_found", "INFRA.path", id="308"),
        pytest.param(404, MLX_TEMPLATE, "refused", "PROTO.refused", id="mlx-says-404-to-bad-requests"),
        pytest.param(400, CONTEXT, "refused", "PROTO.refused", id="context-length-is-no-model-error"),
        pytest.param(400, NO_TOOLS, "refused", "PROTO.refused", id="no-tools-is-no-model-error"),
        pytest.param(400, "The plain HTTP request was sent to HTTPS port", "tls", "INFRA.tls", id="nginx-https-port"),
        pytest.param(400, "Client sent an HTTP request to an HTTPS server.", "tls", "INFRA.tls", id="go-https-port"),
        pytest.param(413, "", "refused", "PROTO.refused", id="413"),
        pytest.param(422, {"detail": [{"loc": ["body", "n"], "msg": "too big"}]}, "refused", "PROTO.refused", id="422"),
        pytest.param(408, "", "timeout", "INFRA.timeout", id="408"),
        pytest.param(429, "", "busy", "INFRA.busy", id="429"),
        pytest.param(503, {"error": {"message": "Loading model"}}, "busy", "INFRA.busy", id="503"),
        pytest.param(500, "Traceback", "server_error", "INFRA.5xx", id="500"),
        pytest.param(502, "<html>Bad Gateway</html>", "server_error", "INFRA.5xx", id="502"),
        pytest.param(504, "", "server_error", "INFRA.5xx", id="504"),
    ],
)
def test_a_status_gets_its_kind_and_code(code: int, body: object, kind: str, finding: str) -> None:
    fault = status(code, body)
    assert (fault.kind, fault.code, fault.status) == (kind, finding, code)
    assert str(code) in fault.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param('{"error": {"message": "too long"}}', "too long", id="openai"),
        pytest.param('{"error": "too long"}', "too long", id="error-text"),
        pytest.param('{"detail": "too long"}', "too long", id="detail"),
        pytest.param('{"message": "too long"}', "too long", id="message"),
        pytest.param('{"msg": "too long"}', "too long", id="msg"),
        pytest.param('{"error": {"error": {"message": "too long"}}}', "too long", id="nested"),
        pytest.param('{"detail": {"message": "too long"}}', "too long", id="detail-object"),
        pytest.param('{"detail": [{"loc": ["body", 1], "msg": "too long"}, {"msg": "x"}]}', "body.1: too long; x", id="validation-errors"),
        pytest.param('["too long"]', "too long", id="list"),
        pytest.param('"too long"', "too long", id="string"),
        pytest.param('{"error": null, "message": "too long"}', "too long", id="null-error"),
        pytest.param('{"why": "too long"}', "why: too long", id="unknown-object"),
        pytest.param("too\n  long\n", "too long", id="plain-text"),
        pytest.param("<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", "502 Bad Gateway", id="html-title"),
        pytest.param("<p>too &lt; long</p><script>alert(1)</script>", "too < long", id="html-without-title"),
        pytest.param("", "", id="empty"),
        pytest.param("{}", "", id="empty-object"),
        pytest.param("null", "", id="null"),
    ],
)
def test_the_servers_own_words_are_found(body: str, message: str) -> None:
    assert complaint_of(body).message == message


@pytest.mark.parametrize("body", ["x" * 5_000_000, "<" * 1_000_000, "[" * 1_000_000, '{"error": "' + "y" * 1_000_000 + '"}'])
def test_a_giant_complaint_is_cut(body: str) -> None:
    assert len(complaint_of(body).message) <= 601


def test_the_message_of_a_redirect_names_the_target_without_its_secrets() -> None:
    fault = status(307, headers={"location": "https://ann:pa55@h/login?token=s3cret#frag"})
    assert "to https://h/login;" in fault.message
    assert "pa55" not in fault.message + fault.body
    assert "s3cret" not in fault.message


def test_a_busy_server_says_when_to_come_back() -> None:
    assert "(Retry-After: 9)" in status(429, headers={"retry-after": "9"}).message


def test_the_path_that_was_asked_is_named() -> None:
    assert URL in status(404).message


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        pytest.param({"message": "boom", "code": 500}, "server_error", "INFRA.5xx", id="500"),
        pytest.param({"message": "boom"}, "server_error", "INFRA.5xx", id="no-code"),
        pytest.param("boom", "server_error", "INFRA.5xx", id="text"),
        pytest.param({"message": "boom", "code": "400"}, "refused", "PROTO.refused", id="400"),
        pytest.param({"message": "boom", "code": 503}, "busy", "INFRA.busy", id="503"),
        pytest.param({"message": "boom", "code": "invalid_thing"}, "server_error", "INFRA.5xx", id="a-word"),
    ],
)
def test_an_error_inside_a_stream_is_classed_by_its_own_code(error: object, kind: str, code: str) -> None:
    fault = fault_of_protocol(
        ProtocolError("an error object in the stream", code="PROTO.sse", error=error), status=200, headers={}, body=""
    )
    assert (fault.kind, fault.code, fault.status) == (kind, code, 200)
    assert "boom" in fault.message


def chained(error: httpx.HTTPError, cause: Exception) -> httpx.HTTPError:
    error.__cause__ = cause
    return error


CERTIFICATE = ssl.SSLCertVerificationError(1, "certificate verify failed")
CERTIFICATE.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("error", "kind", "code", "says"),
    [
        pytest.param(chained(httpx.ConnectError("x"), CERTIFICATE), "tls", "INFRA.tls", "does not verify: self-signed", id="certificate"),
        pytest.param(
            chained(httpx.ConnectError("x"), ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]")),
            "tls",
            "INFRA.tls",
            "plain http",
            id="plain-port",
        ),
        pytest.param(
            chained(httpx.ConnectError("x"), ssl.SSLError(1, "[SSL] handshake failure")), "tls", "INFRA.tls", "no TLS", id="handshake"
        ),
        pytest.param(
            chained(httpx.ReadError("x"), ssl.SSLError(1, "bad record mac")), "reset", "INFRA.reset", "TLS connection broke", id="mid-body"
        ),
        pytest.param(httpx.ConnectTimeout("x"), "connect", "INFRA.connect", "in time", id="connect-timeout"),
        pytest.param(httpx.WriteTimeout("x"), "timeout", "INFRA.timeout", "within 5 s, far", id="write-timeout"),
        pytest.param(httpx.ReadError(""), "reset", "INFRA.reset", "ended far: ReadError", id="without-words"),
    ],
)
def test_an_exception_gets_its_kind_and_code(error: httpx.HTTPError, kind: str, code: str, says: str) -> None:
    fault = fault_of_exception(error, url=URL, waited="far", limit_s=5)
    assert (fault.kind, fault.code) == (kind, code)
    assert says in fault.message


def test_an_excerpt_keeps_both_ends() -> None:
    cut = excerpt("a" * 10_000 + "z" * 10_000)
    assert (cut[0], cut[-1]) == ("a", "z")
    assert len(cut) < BODY_SHOWN + 100
    assert excerpt("short") == "short"
