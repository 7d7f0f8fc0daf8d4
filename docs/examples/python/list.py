"""All captures that have completed, newest first: list.py"""
import json
import os
import sys
import urllib.error
import urllib.parse
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


filters = {"status": "completed", "per_page": 100}
while True:
    page = json.load(send("/screenshots?" + urllib.parse.urlencode(filters)))
    for record in page["data"]:
        print(record["created_at"], record["id"], record["url"] or "(no address)")
    if page["meta"]["next_cursor"] is None:
        break
    filters["cursor"] = page["meta"]["next_cursor"]
