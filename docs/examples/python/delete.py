"""Deletes a capture, its image and all other stored data: delete.py ID"""
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


capture = sys.argv[1]
request = urllib.request.Request(
    f"{BASE}/v1/screenshots/{capture}", method="DELETE", headers={"Authorization": f"Bearer {KEY}"}
)
open_request(request)
print(f"deleted {capture}")
