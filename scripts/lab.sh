# What the chapters do by hand, as functions of your shell. In the project's folder, beside `npm run up`: . scripts/lab.sh
# It works in bash, zsh and any POSIX shell. The ports are those of `npm run up`; what you have set for it, set here as well.

# zsh takes what stands behind a # for arguments, unless it is told otherwise.
if [ -n "${ZSH_VERSION-}" ]; then setopt interactive_comments; fi

LAB_DIR=$PWD
if [ ! -f "$LAB_DIR/scripts/lab.sh" ]; then
  echo "Read it in the project's folder: cd there, then . scripts/lab.sh" >&2
fi

# sale [PORT]: sells one unit, through nginx or at the node that listens there.
sale() {
  lab POST "${1:-${NGINX_PORT:-8080}}" inventory/sale
}

# stock [PORT]: how many units are left.
stock() {
  lab GET "${1:-${NGINX_PORT:-8080}}" inventory
}

# lab METHOD PORT PATH [JSON]: any other call, to a node, its lab listener or nginx.
lab() {
  # As one write, so that the answers of two calls at once do not mix.
  if [ $# -gt 3 ]; then
    printf '%s\n' "$(curl -s -X "$1" "http://127.0.0.1:$2/$3" -H 'Content-Type: application/json' -d "$4")"
  else
    printf '%s\n' "$(curl -s -X "$1" "http://127.0.0.1:$2/$3")"
  fi
}

# next_sale PORT JSON: what the next sale of that node does, such as {"pauseMs":3000}.
next_sale() {
  lab PUT "$1" next-sale "$2"
}

# set_stock UNITS: puts so many units of sku 001 in stock.
set_stock() {
  lab PUT "${NODE_1_LAB_PORT:-7778}" stock "{\"stock\":$1}"
}

# pid PORT: the process of the node whose lab listener is there.
pid() {
  curl -s "http://127.0.0.1:$1/state" | node -p 'JSON.parse(fs.readFileSync(0)).pid'
}

# heap PORT: how much memory the objects of the node that listens there take, in bytes.
heap() {
  curl -s "http://127.0.0.1:$1/metrics" | grep '^nodejs_heap_size_used_bytes'
}

# third_node NAME=VALUE …: starts node-3 with these settings, on 9999 and 10000, and comes back when it answers. Fails when it has
# ended: it has said why.
third_node() {
  (cd "$LAB_DIR" && exec env REDIS_URL="redis://127.0.0.1:${REDIS_PORT:-6390}" NODE_NAME=node-3 PORT=9999 LAB_PORT=10000 \
    LOG_LEVEL=warn "$@" node --import tsx services/inventory/main.ts) &
  # An earlier node-3 may answer there.
  until curl -s http://127.0.0.1:10000/state 2> /dev/null | grep -q "\"pid\":${!}[,}]"; do
    kill -0 "${!}" 2> /dev/null || return 1
    sleep 0.2
  done
}

# redis COMMAND …: one command to the Redis of `npm run up`, with redis-cli where there is one.
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

# sql STATEMENT: asks the MySQL of `npm run up`, when it has started one.
sql() {
  "$(command -v mariadb || command -v mysql)" -h 127.0.0.1 -P "${MYSQL_PORT:-3390}" -u root -N -e "$1"
}
