# Shell functions for trying things by hand, as the chapters do. In the project's folder, beside `npm run up`: . scripts/lab.sh
# Works in bash, zsh and any POSIX shell. It uses the ports of `npm run up`: set the same port variables here.

# By default, interactive zsh does not treat # as a comment.
if [ -n "${ZSH_VERSION-}" ]; then setopt interactive_comments; fi

LAB_DIR=$PWD
if [ ! -f "$LAB_DIR/scripts/lab.sh" ]; then
  echo "Source this file in the project's folder: cd there, then . scripts/lab.sh" >&2
fi

# sale [PORT]: sells one unit, through nginx or at the node on that port.
sale() {
  lab POST "${1:-${NGINX_PORT:-8080}}" inventory/sale
}

# stock [PORT]: how many units are left.
stock() {
  lab GET "${1:-${NGINX_PORT:-8080}}" inventory
}

# lab METHOD PORT PATH [JSON]: any other request, to a node, its admin API or nginx.
lab() {
  # In one write, so that the output of two simultaneous calls does not mix.
  if [ $# -gt 3 ]; then
    printf '%s\n' "$(curl -s -X "$1" "http://127.0.0.1:$2/$3" -H 'Content-Type: application/json' -d "$4")"
  else
    printf '%s\n' "$(curl -s -X "$1" "http://127.0.0.1:$2/$3")"
  fi
}

# next_sale PORT JSON: scripts the next sale of that node, such as {"pauseMs":3000}.
next_sale() {
  lab PUT "$1" next-sale "$2"
}

# set_stock UNITS: sets the stock of sku 001.
set_stock() {
  lab PUT "${NODE_1_LAB_PORT:-7778}" stock "{\"stock\":$1}"
}

# pid PORT: the process id of the node with this admin API port.
pid() {
  curl -s "http://127.0.0.1:$1/state" | node -p 'JSON.parse(fs.readFileSync(0)).pid'
}

# heap PORT: the heap in use of the node on that port, in bytes.
heap() {
  curl -s "http://127.0.0.1:$1/metrics" | grep '^nodejs_heap_size_used_bytes'
}

# third_node NAME=VALUE …: starts node-3 with these settings, on 9999 and 10000, and returns when it responds. Fails if the node
# exits; it prints why.
third_node() {
  (cd "$LAB_DIR" && exec env REDIS_URL="redis://127.0.0.1:${REDIS_PORT:-6390}" NODE_NAME=node-3 PORT=9999 LAB_PORT=10000 \
    LOG_LEVEL=warn "$@" node --import tsx services/inventory/main.ts) &
  # An earlier node-3 may still respond there.
  until curl -s http://127.0.0.1:10000/state 2> /dev/null | grep -q "\"pid\":${!}[,}]"; do
    kill -0 "${!}" 2> /dev/null || return 1
    sleep 0.2
  done
}

# redis COMMAND …: sends one command to the Redis of `npm run up`, with redis-cli if it is installed.
redis() {
  if command -v redis-cli > /dev/null; then
    redis-cli --raw -p "${REDIS_PORT:-6390}" "$@"
  else
    (cd "$LAB_DIR" && node -e '
      const redis = new (require("ioredis").Redis)(Number(process.argv[1]));
      const isHash = (answer) => answer?.constructor === Object;
      const lines = (answer) => (isHash(answer) ? Object.entries(answer) : [answer]).flat(Infinity);
      const show = (answer) => console.log(lines(answer).map((each) => each ?? "").join("\n"));
      redis.call(...process.argv.slice(2)).then(show, ({ message }) => show(message)).finally(() => redis.disconnect());
    ' -- "${REDIS_PORT:-6390}" "$@")
  fi
}

# sql STATEMENT: queries the MySQL of `npm run up`, if it has started one.
sql() {
  "$(command -v mariadb || command -v mysql)" -h 127.0.0.1 -P "${MYSQL_PORT:-3390}" -u root -N -e "$1"
}
