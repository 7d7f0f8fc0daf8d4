"""The plan of the account, and the remaining quota: account.py"""
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


def read(path):
    """Sends a request; returns the data of the response."""
    request = urllib.request.Request(f"{BASE}/v1{path}", headers={"Authorization": f"Bearer {KEY}"})
    return json.load(open_request(request))["data"]


account, usage = read("/account"), read("/account/usage")
limit = usage["screenshots_limit"] or "unlimited"
print(f"{account['name']}: plan {account['plan']['slug']}, {usage['screenshots_used']} of {limit} captures used")
