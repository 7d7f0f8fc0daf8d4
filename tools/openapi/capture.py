"""Captures a page as PNG to standard output, with the client that openapi-python-client generated."""

import os
import sys

from shutterfleet_client import AuthenticatedClient
from shutterfleet_client.api.account import usage
from shutterfleet_client.api.screenshots import capture_post
from shutterfleet_client.models import CaptureParameters, UsageAnswer
from shutterfleet_client.types import File

client = AuthenticatedClient(base_url=os.environ["SHUTTERFLEET_URL"], token=os.environ["SHUTTERFLEET_KEY"], timeout=60)
picture = capture_post.sync(client=client, body=CaptureParameters(html=sys.argv[1]))
if not isinstance(picture, File):
    sys.exit(f"no picture: {picture}")
used = usage.sync(client=client)
if not isinstance(used, UsageAnswer) or used.data.screenshots_used < 1:
    sys.exit(f"no usage: {used}")
sys.stdout.buffer.write(picture.payload.read())
