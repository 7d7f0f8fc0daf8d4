#!/bin/sh
# Restores a backup into an empty database and an empty bucket, or folder: restore.sh FOLDER. DATABASE_URL and OBJECTS as for
# back-up.sh. No service of the installation may run yet.
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
bin/shutterfleet objects copy --from "$1/objects" --to "$OBJECTS"
# In a single transaction, so that it can be retried.
pg_restore --no-owner --single-transaction --exit-on-error --dbname="$DATABASE_URL" "$1/database.dump"
