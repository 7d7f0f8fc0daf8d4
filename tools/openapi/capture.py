"""Captures a page as PNG to standard output, with the client that openapi-python-client generated, and reads records of tomorrow."""

import os
import sys

from shutterfleet_client import AuthenticatedClient
from shutterfleet_client.api.account import usage
from shutterfleet_client.api.screenshots import capture_post, list_, status
from shutterfleet_client.models import CaptureParameters, ScreenshotAnswer, ScreenshotPage, UsageAnswer
from shutterfleet_client.types import File

client = AuthenticatedClient(base_url=os.environ["SHUTTERFLEET_URL"], token=os.environ["SHUTTERFLEET_KEY"], timeout=60)
picture = capture_post.sync(client=client, body=CaptureParameters(html=sys.argv[1]))
if not isinstance(picture, File):
    sys.exit(f"no picture: {picture}")
used = usage.sync(client=client)
if not isinstance(used, UsageAnswer) or used.data.screenshots_used < 1:
    sys.exit(f"no usage: {used}")
tomorrow = AuthenticatedClient(base_url=os.environ["TOMORROW_URL"], token="key")
record = status.sync(client=tomorrow, id="3f2504e0-4f89-41d3-9a0c-0305e82c3301")
if not isinstance(record, ScreenshotAnswer) or record.data.status != "of_tomorrow":
    sys.exit(f"no record of tomorrow: {record}")
page = list_.sync(client=tomorrow)
if not isinstance(page, ScreenshotPage) or page.data[0].status != "of_tomorrow":
    sys.exit(f"no list of tomorrow: {page}")
sys.stdout.buffer.write(picture.payload.read())
