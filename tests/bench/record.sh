#!/usr/bin/env bash
# The cost of `gotrace record`: ratios of traced to plain processor times (user and system, of the program, the library
# and the tool; for servers the time per request under load), each from the best of some alternating runs. The work that
# the tool does once at the end, regardless of the program's length, is a separate row: it asks a debugger for lines.
#
#     tests/bench/record.sh [-q]      -q: fewer runs
#
# The last column is the limit; "-": the row is only for comparison. Status 1 if a ratio exceeds its limit. A busy
# machine makes the ratios useless.
set -euo pipefail
cd "$(dirname "$0")/../.."

runs=9
[ "${1-}" != -q ] || runs=4
make -s build/examples/gotrace
tool=$PWD/build/examples/gotrace
work=$(mktemp -d)
server=''
trap '[ ! "$server" ] || kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
status=0

report() { # report NAME PLAIN TRACED LIMIT: lower is better
  awk -v name="$1" -v plain="$2" -v traced="$3" -v limit="$4" 'BEGIN {
    ratio = traced / plain
    printf "%-44s %12.3f %12.3f %8.3f %8s\n", name, plain, traced, ratio, limit
    exit limit != "-" && ratio > limit
  }' || status=1
}

least() { sort -g | head -n 1; }

seconds() { # seconds COMMAND...: the time that it takes; discards its output
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

printf '%-44s %12s %12s %8s %8s\n' 'gotrace record' plain traced ratio limit

"${CC-cc}" -O2 tests/bench/record.c -o "$work/mutex" -pthread
"${CC-cc}" -O2 -shared -fPIC tests/bench/forward.c -o "$work/forward.so" -ldl
for ((i = 0; i < runs; i++)); do
  "$work/mutex" >>"$work/mutex.plain"
  LD_PRELOAD=$work/forward.so "$work/mutex" >>"$work/mutex.forwarded"
  "$tool" record -q -o "$work/t.trace" "$work/mutex" >>"$work/mutex.traced"
done
report 'uncontended mutex pair, ns' "$(least <"$work/mutex.plain")" "$(least <"$work/mutex.traced")" 1.3
report '  a library that only passes calls on' "$(least <"$work/mutex.plain")" "$(least <"$work/mutex.forwarded")" -

for ((i = 0; i < 40; i++)); do cat gotrace.h; done >"$work/input"
for stacks in none call-site unwind; do
  for command in 'pigz -p 2 -nc' 'xz -T2 --block-size=1MiB -1 -c'; do
    name=${command%% *}
    command -v $name >/dev/null || { echo "$name is not installed"; continue; }
    rm -f "$work"/*.seconds
    for ((i = 0; i < runs; i++)); do
      seconds $command "$work/input" >>"$work/plain.seconds"
      seconds "$tool" record -q --no-symbolize --stacks $stacks -o "$work/t.trace" $command "$work/input" >>"$work/traced.seconds"
      seconds "$tool" record -q --stacks $stacks -o "$work/t.trace" $command "$work/input" >>"$work/named.seconds"
    done
    report "$name, s, --stacks=$stacks" "$(least <"$work/plain.seconds")" "$(least <"$work/traced.seconds")" 1.05
    [ $stacks = none ] ||
      report '  with functions and lines asked for at the end' "$(least <"$work/plain.seconds")" "$(least <"$work/named.seconds")" -
  done
done

# Throughput with 10 connections. Each function starts a server by a command, asks it, appends the microseconds per request
# to a file, and has the server end.
ask_redis() { # ask_redis OUTPUT COMMAND...
  "${@:2}" redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" >/dev/null 2>&1 &
  server=$!
  until redis-cli -s "$work/redis.sock" ping >/dev/null 2>&1; do sleep 0.05; done
  redis-benchmark -s "$work/redis.sock" -n 100000 -c 10 -t get -q --csv 2>/dev/null |
    awk -F '"' '$2 == "GET" { print 1e6 / $4 }' >>"$1"
  redis-cli -s "$work/redis.sock" shutdown nosave || true
}
ask_nginx() { # ask_nginx OUTPUT COMMAND...
  printf 'daemon off; worker_processes 2; pid %s; error_log /dev/null; events {} http { access_log off; server { listen 127.0.0.1:%d; location / { return 200 "text"; } } }' \
    "$work/nginx.pid" $port >"$work/nginx.conf"
  "${@:2}" nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
  server=$!
  until [ -s "$work/nginx.pid" ] || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
  ab -k -q -c 10 -n 50000 "http://127.0.0.1:$port/" 2>/dev/null |
    awk '$1 == "Requests" { print 1e6 / $4 }' >>"$1"
  kill -QUIT "$(cat "$work/nginx.pid")"
}
ask_postgres() { # ask_postgres OUTPUT COMMAND...
  "${nobody[@]}" "${@:2}" postgres -D "$work/pg" -k "$work/pg" -c listen_addresses= >/dev/null 2>&1 &
  server=$!
  until pg_isready -q -h "$work/pg" || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
  [ -e "$work/filled" ] || "${nobody[@]}" pgbench -h "$work/pg" -i -q postgres >/dev/null 2>&1
  touch "$work/filled"
  "${nobody[@]}" pgbench -h "$work/pg" -S -n -c 10 -T 3 postgres 2>/dev/null | awk '$1 == "tps" { print 1e6 / $3 }' >>"$1"
  kill -INT "$(head -n 1 "$work/pg/postmaster.pid")"
}
serve() { # serve FUNCTION OUTPUT COMMAND...
  "$@"
  wait $server || true
  server=''
}
compare() { # compare NAME FUNCTION "OPTIONS..."
  rm -f "$work"/*.asked
  for ((i = 0; i < runs; i++)); do
    serve $2 "$work/plain.asked"
    # shellcheck disable=SC2086 # words
    serve $2 "$work/traced.asked" "$tool" record -q $3
  done
  report "$1" "$(least <"$work/plain.asked")" "$(least <"$work/traced.asked")" 1.05
}
there() { # there PROGRAM...
  local program
  for program; do type -P "$program" >/dev/null || { echo "$program is not installed"; return 1; }; done
}
port=$((20000 + $$ % 10000))
nobody=()
if there redis-benchmark redis-server; then
  for stacks in none call-site unwind; do
    compare "redis-server, us per GET, --stacks=$stacks" ask_redis "--stacks $stacks -o $work/t.trace"
  done
fi
mkdir -m 777 "$work/children"
if there nginx ab; then compare 'nginx, us per request, --children' ask_nginx "--children -o $work/children/nginx"; fi
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)
if there postgres initdb pgbench; then
  chmod 711 "$work"
  if [ "$(id -u)" = 0 ]; then # not as root
    nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
    install -d -o nobody "$work/pg"
  fi
  "${nobody[@]}" initdb -D "$work/pg" -A trust >/dev/null
  compare 'postgres, us per SELECT, --children' ask_postgres "--children -o $work/children/postgres"
fi
exit $status
