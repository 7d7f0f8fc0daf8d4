#!/bin/sh
# Entry point of the stand-in for the official PostgreSQL image: runs the server. If PGDATA is empty, first initializes it for
# POSTGRES_USER, with the password in POSTGRES_PASSWORD_FILE and a database named like the user.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait -o "-c listen_addresses=''" start
  createdb --username="$POSTGRES_USER" "$POSTGRES_USER"
  pg_ctl --wait --mode=fast stop
fi
exec postgres -c listen_addresses='*' "$@"
