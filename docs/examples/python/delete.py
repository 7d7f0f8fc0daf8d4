"""Deletes a capture, its image and all other stored data: delete.py ID"""
import os
import sys
import urllib.request

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ["KEY"]

capture = sys.argv[1]
request = urllib.request.Request(
    f"{BASE}/v1/screenshots/{capture}", method="DELETE", headers={"Authorization": f"Bearer {KEY}"}
)
urllib.request.urlopen(request, timeout=30)
print(f"deleted {capture}")
