#!/usr/bin/env bash
# Replays on a real engine what docker-compose.yml promises and only containers can show. It is no part of `npm test`.
#
#   bash test/compose/replay.sh            from the project's root, with docker and curl on the PATH
#   bash test/compose/replay.sh sudo       the arguments come before every command that is run
#
# It takes minutes and a stack of its own: the project lockstep-replay, on port REPLAY_PORT (18080), so yours may
# stay up. At its end it removes its containers, networks, built images and reports; pulled images and the build cache stay.
# Exit code: 0 when every line is ✔, 1 when one is ✘, 2 when the stack did not start or was there already.
set -u
cd "$(dirname "$0")/../.."
before=("$@")
port=${REPLAY_PORT:-18080}
failed=0

on() { "${before[@]+"${before[@]}"}" "$@"; }
# The settings of the caller and of .env are not those that are checked.
compose() { with '' "$@"; }
with() { # 'NAME=value …' of one command
  local settings=$1
  shift
  # shellcheck disable=SC2086
  on env -u LOCK_VERSION -u MYSQL_URL -u ZOOKEEPER_URL NGINX_PORT="$port" LAB_NETWORK=10.203.114 $settings \
    docker compose --env-file /dev/null -f docker-compose.yml -p lockstep-replay "$@" </dev/null
}
up() { with "$1" up -d --wait >/dev/null 2>&1; }
of() { on docker inspect --format "$2" "lockstep-replay-$1-1" 2>/dev/null; } # a container, and what to say of it

# `200 8-auto-renew`, or the status and the problem code
sale() {
  on curl -sS -m 20 -w ' %{http_code}' "http://127.0.0.1:$port/inventory/sale" 2>/dev/null |
    sed -E 's/.*"(lock|code)":"([^"]+)".* ([0-9]+)$/\3 \2/'
}
sales() { echo "$(sale), $(sale)"; } # one of each node

verdict() { # 0 or 1, what holds, what was seen
  if [ "$1" = 0 ]; then echo "✔ $2 (${SECONDS} s)"; else echo "✘ $2 (${SECONDS} s): $3" && failed=1; fi
}

left() {
  on docker ps -aq --filter label=com.docker.compose.project=lockstep-replay
  on docker network ls -q --filter label=com.docker.compose.project=lockstep-replay
}

# What an interrupted replay leaves, too.
clear_up() {
  compose down --volumes --remove-orphans --rmi local >/dev/null 2>&1
  on docker network prune -f --filter label=com.docker.compose.project=lockstep-replay >/dev/null 2>&1
  [ "$had_reports" = yes ] || on rmdir reports 2>/dev/null
}

[ -z "$(left)" ] || { echo 'There is a project lockstep-replay already: docker compose -p lockstep-replay down' >&2; exit 2; }
on test -d reports && had_reports=yes || had_reports=no
latest=$(on readlink reports/latest)
trap clear_up EXIT
trap 'exit 2' INT TERM

said=$(compose up -d --wait 2>&1) || { echo "$said" >&2; exit 2; }
[ "$(sales)" = '200 8-auto-renew, 200 8-auto-renew' ] || { echo 'It does not sell.' >&2; exit 2; }
image=$(of redis '{{.Config.Image}}')

# 1. Refused (7) or never answered (28) is what curl must say.
reached=
for target in node-1:7777 node-1:7778 node-2:8889 redis:6379; do
  for address in $(of "${target%:*}" '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}'); do
    on curl -s -m 3 -o /dev/null "http://$address:${target#*:}"
    case $? in 7 | 28) ;; *) reached="$reached $target" ;; esac
  done
done
[ -z "$reached" ]
verdict $? 'the host reaches no node, no lab listener and no Redis by its address' "reached:$reached"

reached=
for name in redis nginx; do
  for host in node-1 node-1-lab 10.203.114.11 10.203.114.139; do
    compose exec -T "$name" wget -q -T 3 -O /dev/null "http://$host:7778/state" 2>/dev/null && reached="$reached $name:$host"
  done
done
[ -z "$reached" ] && compose exec -T node-2 node -e "fetch('http://node-1-lab:7778/state')" 2>/dev/null
verdict $? 'a lab listener answers in its own network, and neither Redis nor nginx reaches it' "reached:$reached"

# 2. It ends with 1 on a machine that is too busy to judge. The one who deletes the report is nobody that the host knows.
printed=$(compose run --rm -T loadtest --stage 1 --drill rush --requests 50 --connections 5 2>&1)
status=$?
report=$(echo "$printed" | sed -n 's/^The report: //p')
run=$(on readlink reports/latest)
[ "$run" != "$latest" ] || run= # one of yours
on test -n "$report" -a -f "$report"
found=$?
delete_report() { # as the user
  [ -n "$run" ] && on docker run --rm --network none --user "$1" --entrypoint sh -v "$(on pwd)/reports:/reports" "$image" \
    -c "cd /reports && rm -rf '$run' latest && { [ -z '$latest' ] || ln -s '$latest' latest; }" >/dev/null 2>&1
}
delete_report 4321:4321
deleted=$?
[ $status -le 1 ] && [ $found$deleted = 00 ]
verdict $? 'the load test comes to its end, its report is where it says, and anyone may delete it' \
  "exit code $status, printed $report ($([ $found = 0 ] && echo there || echo missing)), rm ended with $deleted"
[ $deleted = 0 ] || delete_report root

# 3. Containers that end and start together may swap addresses that are not fixed.
up ''
lost=0
for _ in 1 2 3 4 5 6; do
  compose kill node-1 node-2 >/dev/null 2>&1
  up ''
  [ "$(sales)" = '200 8-auto-renew, 200 8-auto-renew' ] || lost=$((lost + 1))
done
[ $lost = 0 ]
verdict $? 'both nodes are killed and started again, six times, and nginx finds them' "not in $lost of 6 rounds"

# 4. From outside, as a crash or the kernel does it: what `docker kill` ends stays away on purpose.
up ''
on docker run --rm --network none --pid host --user root --entrypoint sh "$image" -c "kill -9 $(of node-1 '{{.State.Pid}}')"
state=
for _ in $(seq 60); do
  state=$(of node-1 '{{.State.Health.Status}}, restarts: {{.RestartCount}}')
  [ "$state" = 'healthy, restarts: 1' ] && break
  sleep 0.5
done
[ "$state" = 'healthy, restarts: 1' ]
verdict $? 'a node that crashes comes back by itself' "node-1 is $state"

# A first process without a handler ignores SIGTERM, and Docker would wait for the whole grace period of 45 s.
on docker kill lockstep-replay-node-1-1 >/dev/null
on docker start lockstep-replay-node-1-1 >/dev/null
on docker stop lockstep-replay-node-1-1 >/dev/null
state=$(of node-1 '{{.State.ExitCode}}')
on docker start lockstep-replay-node-1-1 >/dev/null
[ "$state" = 143 ]
verdict $? 'a node that is stopped while it starts ends by the signal' "exit code $state"

# 5. The servers start anew in no stated order, so the shop may take a moment.
compose restart >/dev/null 2>&1
seen=
for _ in $(seq 30); do
  seen=$(sales)
  [ "$seen" = '200 8-auto-renew, 200 8-auto-renew' ] && break
  sleep 0.5
done
[ "$seen" = '200 8-auto-renew, 200 8-auto-renew' ]
verdict $? 'after `restart` there is stock again' "$seen"

# 6.
seen=
for setting in 'LOCK_VERSION=zookeeper ZOOKEEPER_URL=zookeeper:2181' \
  'LOCK_VERSION=mysql MYSQL_URL=mysql://lockstep:lockstep@mysql/lockstep'; do
  up "$setting"
  seen="$seen $(sales);"
done
[ "$seen" = ' 200 zookeeper, 200 zookeeper; 200 mysql-lock-table, 200 mysql-lock-table;' ]
verdict $? 'the stack sells as soon as it is up under ZooKeeper, and under MySQL' "$seen"

# 7. While the server of MySQL is up, and after a load test.
compose down >/dev/null 2>&1
rest=$(left | wc -l)
[ "$rest" -eq 0 ]
verdict $? '`down` leaves no container and no network' "$rest are left"

exit $failed
