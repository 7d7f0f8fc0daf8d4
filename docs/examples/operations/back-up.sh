#!/bin/sh
# Backs up a running installation into a folder: back-up.sh FOLDER. DATABASE_URL is the address of PostgreSQL, with the password in
# PGPASSFILE or PGPASSWORD; OBJECTS is @FILE with the address of the bucket, or the folder of images. A repeated run into the same
# folder copies only new images.
set -eu
# Arguments are visible in the process list.
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
# The database first: all images in its rows exist at that time, and are copied afterwards.
pg_dump --format=custom --no-owner --file="$1/database.dump" --dbname="$DATABASE_URL"
bin/shutterfleet objects copy --from "$OBJECTS" --to "$1/objects"
