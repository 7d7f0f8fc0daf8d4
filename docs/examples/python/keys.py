"""A key for pages of one host, which is then revoked: keys.py [HOST]"""
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
        return urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as failure:
        sys.exit(failure.read().decode())
    except urllib.error.URLError as failure:
        sys.exit(f"{BASE} is unreachable: {failure.reason}")


def send(method, path, body=None):
    """Sends a request; returns the open response."""
    request = urllib.request.Request(
        f"{BASE}/v1{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    return open_request(request)


host = sys.argv[1] if len(sys.argv) > 1 else "example.com"
made = json.load(send("POST", "/keys", {"name": "Website", "domains": [host]}))["data"]
print(made["key"])
for key in json.load(send("GET", "/keys"))["data"]:
    print(f"{key['prefix']}… {key['name']}")
send("DELETE", f"/keys/{made['id']}")
print(f"revoked {made['id']}")
