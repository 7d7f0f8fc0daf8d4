"""Receives webhooks and verifies their signature: SECRET=whsec_... PORT=8081 webhook-receiver.py"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import time

SECRET = os.environ["SECRET"]
PORT = int(os.environ.get("PORT", "8081"))


def is_valid(headers, body):
    """Whether one of the signatures is valid, and the delivery at most five minutes old."""
    key = base64.b64decode(SECRET[len("whsec_"):])
    sent = headers.get("webhook-timestamp", "0")
    if not sent.isdigit() or abs(time.time() - int(sent)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(wanted.encode(), each.encode()) for each in given)


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 1_000_000))
        trusted = is_valid(self.headers, body)
        if trusted:
            # A delivery can arrive more than once: process each data.id only once.
            event = json.loads(body)
            print(event["event"], event["data"]["id"], flush=True)
        else:
            print("refused", flush=True)
        self.send_response(204 if trusted else 400)
        self.end_headers()


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print("listening", server.server_address, flush=True)
server.serve_forever()
