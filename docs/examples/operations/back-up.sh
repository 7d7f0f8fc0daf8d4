#!/bin/sh
# Backs an installation up into a folder while it runs: back-up.sh FOLDER. DATABASE_URL is the address of PostgreSQL, whose
# password PGPASSFILE or PGPASSWORD has; OBJECTS is @FILE with the address of the bucket, or its folder. Another run into the same
# folder copies images that are new alone.
set -eu
# Whoever lists processes sees arguments.
for address in "$DATABASE_URL" "$OBJECTS"; do
  case $address in
    *://*:*@* | *password=*)
      echo 'the password goes into PGPASSFILE or PGPASSWORD, the address of the bucket into @FILE' >&2
      exit 2
      ;;
  esac
done
mkdir -p "$1"
chmod 700 "$1"
# The database first: every image that its rows name is there at this time, and is copied after it.
pg_dump --format=custom --no-owner --file="$1/database.dump" --dbname="$DATABASE_URL"
bin/shutterfleet objects copy --from "$OBJECTS" --to "$1/objects"
