#!/bin/sh
# Installs Debian's Firefox (70 MB to download), in which a test walks through the console. Where it cannot be installed says so, and
# the test is skipped. Prints nothing if it is installed.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh

if [ -x /usr/bin/firefox-esr ]; then exit 0; fi
start_work firefox.lock
(require_packages 'Firefox for the console' firefox-esr) || say 'warning: the console is not tested in Firefox'
