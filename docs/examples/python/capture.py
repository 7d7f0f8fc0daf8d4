"""Synchronous capture, without ads and chats: capture.py [PAGE] [FILE]"""
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


page = sys.argv[1] if len(sys.argv) > 1 else "https://example.com"
file = sys.argv[2] if len(sys.argv) > 2 else "page.png"

wanted = {"url": page, "full_page": True, "block_ads": True, "block_chats": True}
with send("/screenshots/capture", wanted) as response:
    image = response.read()
with open(file, "wb") as out:
    out.write(image)
print("wrote", file)
