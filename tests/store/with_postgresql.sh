#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# with_postgresql.sh COMMAND...: starts a PostgreSQL server of its own in a temporary folder, runs the command with
# JOULECAST_TEST_POSTGRESQL naming an empty database of it and JOULECAST_TEST_POSTGRESQL_CONTROL a pg_ctl, and stops the
# server. Exit code 77: there is no PostgreSQL.
set -euo pipefail

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
if [ -z "$bin" ] || [ ! -x "$bin/initdb" ]; then
  echo "skipped: PostgreSQL's server is not installed (Debian: postgresql)"
  exit 77
fi

folder=$(mktemp -d)
as_user=()
if [ "$(id -u)" -eq 0 ]; then # the server refuses to run as root
  as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  chown nobody:nogroup "$folder"
fi
stop() {
  "${as_user[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >"$folder/stop.log" 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT

cd "$folder"
"${as_user[@]}" "$bin/initdb" -D "$folder/data" -U joulecast -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$folder/initdb.log"
# A socket in the folder and no port: nothing else on this machine is in the way.
"${as_user[@]}" "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/server.log" \
  -o "-c listen_addresses='' -c unix_socket_directories='$folder' -c fsync=off" start >"$folder/start.log" ||
  { cat "$folder/server.log"; exit 1; }
"$bin/createdb" -h "$folder" -U joulecast store
cd - >/dev/null
# For tests that stop it and start it again.
control=("${as_user[@]}" "$bin/pg_ctl" -w -D "$folder/data" -l "$folder/server.log" -o
  "-c listen_addresses='' -c unix_socket_directories='$folder' -c fsync=off")
printf -v JOULECAST_TEST_POSTGRESQL_CONTROL '%q ' "${control[@]}"
export JOULECAST_TEST_POSTGRESQL_CONTROL
export JOULECAST_TEST_POSTGRESQL="postgresql:///store?host=$folder&user=joulecast"
"$@"
