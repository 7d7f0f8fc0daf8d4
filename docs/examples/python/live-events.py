"""Live events of a capture: live-events.py [PAGE]"""
import json
import os
import sys
import urllib.error
import urllib.request

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ["KEY"]


def open_request(request):
    """Returns the open response; prints the message of an error and exits."""
    try:
        return urllib.request.urlopen(request, timeout=150)
    except urllib.error.HTTPError as failure:
        sys.exit(failure.read().decode())
    except urllib.error.URLError as failure:
        sys.exit(f"{BASE} is unreachable: {failure.reason}")


def send(path, body=None):
    """Sends a request; returns the open response."""
    request = urllib.request.Request(
        f"{BASE}/v1{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    return open_request(request)


def events(path):
    """Server-sent events as (name, data), until the stream ends."""
    name = None
    for line in send(path):
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


page = sys.argv[1] if len(sys.argv) > 1 else "https://example.com"
capture = json.load(send("/screenshots", {"url": page}))["data"]
for name, data in events(f"/screenshots/{capture['id']}/events"):
    print(name, data)
