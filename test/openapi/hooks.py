"""What Schemathesis cannot know of a weir: its keys, its signing secret, its source's shape.

Schemathesis draws requests from the document alone. Keys are sent, webhooks are signed, and where
a valid request also needs something that exists (a shape version, a delivery, a source), it is
put in. What Schemathesis made invalid on purpose is never touched.
"""

import datetime
import hashlib
import hmac
import os
import re
import time

import requests.auth
import schemathesis
from schemathesis.core.parameters import ParameterLocation

PUSH_KEY = os.environ["TEST_PUSH_KEY"]
DOCUMENT_KEY = os.environ["TEST_DOCUMENT_KEY"]
ARTIFACT_ID = os.environ["TEST_ARTIFACT_ID"]
WEBHOOK_SOURCE = os.environ["TEST_WEBHOOK_SOURCE"]
SIGNING_SECRET = os.environ["TEST_SIGNING_SECRET"].encode()

# The ids of stored documents: only the document source's key may ask for them.
DOCUMENTS = set()

INGEST = "/v1/ingest"
WEBHOOK = "/v1/webhooks/{source_id}"


def is_document(case):
    return case.operation.path == INGEST and case.media_type == "application/octet-stream"


def is_valid_at(case, location):
    return case.meta is not None and not case.meta.is_negative_at(location)


@schemathesis.auth(refresh_interval=None)
class AccessKey:
    """A key of the document source for documents, else one of the push source."""

    def get(self, case, context):
        if is_document(case) or case.path_parameters.get("artifact_id") in DOCUMENTS:
            return DOCUMENT_KEY
        return PUSH_KEY

    def set(self, case, data, context):
        if case.operation.path != WEBHOOK:
            case.headers["Authorization"] = f"Bearer {data}"


DELIVERY_ID = re.compile(r"[A-Za-z0-9_:-]{1,200}")


class Signature(requests.auth.AuthBase):
    """Signs the bytes that go out, unless the signature is missing or malformed on purpose."""

    FORM = re.compile(r"[A-Za-z0-9_-]+=[^,\s]*(,[A-Za-z0-9_-]+=[^,\s]*)*")

    def __call__(self, request):
        sent = request.headers.get("Service-Signature")
        delivery_id = request.headers.get("Service-Delivery-Id")
        if sent is None or delivery_id is None or not self.FORM.fullmatch(text_of(sent)):
            return request
        now = str(int(time.time()))
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        signed = f"{now}.{text_of(delivery_id)}.".encode("latin-1") + body
        digest = hmac.new(SIGNING_SECRET, signed, hashlib.sha256).hexdigest()
        request.headers["Service-Signature"] = f"t={now},v1={digest}"
        return request


def text_of(header):
    return header.decode("latin-1") if isinstance(header, bytes) else header


@schemathesis.hook
def filter_case(context, case):
    """The headers of documents mean nothing beside JSON: bad ones are not refused there."""
    beside_json = case.operation.path == INGEST and not is_document(case)
    return not (beside_json and not is_valid_at(case, ParameterLocation.HEADER))


@schemathesis.hook
def before_call(context, case, kwargs):
    if is_valid_at(case, ParameterLocation.PATH):
        if "artifact_id" in case.path_parameters and not from_a_link(case):
            case.path_parameters["artifact_id"] = ARTIFACT_ID
        if "source_id" in case.path_parameters:
            case.path_parameters["source_id"] = WEBHOOK_SOURCE
    if is_valid_at(case, ParameterLocation.HEADER):
        complete_headers(case)
    elif DELIVERY_ID.fullmatch(str(case.headers.get("Service-Delivery-Id", ""))):
        # As with a known idempotency key: the shape version is judged for a new id only.
        case.headers["Service-Delivery-Id"] = fresh_key()
    if is_valid_at(case, ParameterLocation.QUERY):
        order_days(case)
    if case.operation.path == INGEST and isinstance(case.body, dict):
        complete_push(case)
    if case.operation.path == WEBHOOK:
        if case.media_type == "application/json" and is_valid_at(case, ParameterLocation.BODY):
            # Byte-identical bodies are one delivery; an event has an id of its own.
            case.body = {"event": fresh_key(), "drawn": case.body}
        kwargs["auth"] = Signature()


@schemathesis.hook
def after_call(context, case, response):
    if is_document(case) and response.status_code == 202:
        DOCUMENTS.add(response.json()["artifact_id"])


def from_a_link(case):
    return case.meta is not None and case.meta.phase.name.value == "stateful"


def complete_headers(case):
    """The one shape version there is; a document's key; no coding on what is no document."""
    if "X-Service-Shape-Version" in case.headers:
        case.headers["X-Service-Shape-Version"] = "1"
    if len(case.headers.get("Service-Delivery-Id", "")) == 1:
        # Drawn again and again: nearly every webhook would be a redelivery of the first.
        case.headers["Service-Delivery-Id"] = fresh_key()
    if is_document(case):
        case.headers.setdefault("Idempotency-Key", fresh_key())
    elif case.operation.path == INGEST:
        case.headers.pop("Content-Encoding", None)


def complete_push(case):
    if is_valid_at(case, ParameterLocation.BODY):
        case.body["shape_version"] = 1
    elif is_idempotency_key(case.body.get("idempotency_key")):
        # A known key gives its receipt, whatever else the body is; only a new one is judged.
        case.body["idempotency_key"] = fresh_key()


def is_idempotency_key(value):
    return isinstance(value, str) and 0 < len(value) <= 200 and "\0" not in value


def fresh_key():
    return f"key-{time.time_ns()}"


def order_days(case):
    """A valid window is not empty: else its first day is left to the service."""
    if case.operation.path != "/v1/samples" or "from" not in case.query:
        return
    tomorrow = (datetime.date.today() + datetime.timedelta(days=1)).isoformat()
    if str(case.query["from"]) >= str(case.query.get("to", tomorrow)):
        del case.query["from"]
    if case.query.get("to") == "0001-01-01":
        del case.query["to"]
