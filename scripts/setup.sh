#!/bin/sh
# Installs the missing servers for the tests: Redis (or Valkey), nginx, MariaDB (or MySQL), ZooKeeper; on Debian also
# Chromium, without which the tests of the live page are skipped.
# Prints nothing if there is nothing to do. Debian and Ubuntu: apt, as root or with sudo. macOS: Homebrew.
set -eu

# Debian keeps nginx and MariaDB where only root's PATH looks.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# Prints the packages that are missing, by the names they have in apt and in Homebrew.
missing() {
  command -v redis-server >/dev/null || command -v valkey-server >/dev/null || echo "$redis_package"
  command -v nginx >/dev/null || echo nginx
  command -v mariadbd >/dev/null || command -v mysqld >/dev/null || echo "$mariadb_package"
  # Debian puts no program of it on the PATH.
  command -v zkServer >/dev/null || { [ -e /usr/share/java/zookeeper.jar ] && command -v java >/dev/null; } ||
    echo "$zookeeper_packages"
}

# Of Ubuntu's package only a part would come by apt; on macOS one has a browser.
lacks_browser() {
  [ "$(uname)" != Darwin ] && ! command -v chromium >/dev/null && grep -qs '^ID=debian' /etc/os-release
}

give_up() {
  echo "The tests need Redis (or Valkey), nginx, MariaDB (or MySQL), and ZooKeeper. $1" >&2
  echo "Install them and run this again; missing: $(missing | tr '\n' ' ')" >&2
  exit 1
}

install_with_brew() {
  echo "Installing $* (once) ..." >&2
  # Homebrew starts no service by itself.
  brew install --quiet "$@" >&2 || give_up "Homebrew could not install them."
}

# The packages start their services and have them started with the machine, on the ports 6379, 80 and
# 3306. Only the programs are wanted: a file forbids the start while this script, or an apt that it has
# started, holds a claim. The system ends the claim with the process. A file that was left behind then
# forbids nothing, and removes itself when it is asked.
# https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt
forbid_services() {
  policy=/usr/sbin/policy-rc.d
  claim=/run/lockstep-setup
  # One that works already is waited for.
  exec 9>"$claim"
  flock 9
  [ ! -e "$policy" ] || grep -qs "$claim" "$policy" || return 0
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  cat >"$policy" <<END
#!/bin/sh
# Of Lockstep's scripts/setup.sh, as long as that is at work.
flock --nonblock $claim rm -f $policy || exit 101
END
  chmod 755 "$policy"
}

install_with_apt() {
  echo "Installing $* (once) ..." >&2
  forbid_services
  # The lists may be old or absent; if they can't be had, what is known may do.
  apt_get update || true
  apt_get install --yes --no-install-recommends "$@" || give_up "apt could not install them."
  if command -v systemctl >/dev/null; then
    for package in "$@"; do
      service=$package
      [ "$package" != mariadb-server ] || service=mariadb
      systemctl --quiet disable "$service" 2>/dev/null || true
    done
  fi
}

install_browser() {
  echo "Installing chromium (once) ..." >&2
  [ -n "$packages" ] || apt_get update || true
  apt_get install --yes --no-install-recommends chromium ||
    echo "apt could not install chromium: the tests of the live page will be skipped." >&2
}

# Asks nothing, and waits for another apt that is at work.
apt_get() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get --quiet=2 -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" </dev/null >/dev/null
}

redis_package=redis-server
mariadb_package=mariadb-server
zookeeper_packages="libzookeeper-java default-jre-headless"
[ "$(uname)" != Darwin ] || redis_package=redis mariadb_package=mariadb zookeeper_packages=zookeeper
packages=$(missing)
[ -n "$packages" ] || lacks_browser || exit 0

# The names hold no spaces: each word is a package.
# shellcheck disable=SC2086
if [ "$(uname)" = Darwin ]; then
  command -v brew >/dev/null || give_up "On macOS this script needs Homebrew, which is not installed: https://brew.sh"
  install_with_brew $packages
elif ! command -v apt-get >/dev/null; then
  give_up "This script can only install them on Debian, Ubuntu and macOS."
elif [ "$(id -u)" = 0 ]; then
  [ -z "$packages" ] || install_with_apt $packages
  ! lacks_browser || install_browser
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  exec sudo -n sh "$0"
elif [ -n "$packages" ]; then
  give_up "This script can't install them: it needs root, or sudo without a password."
fi
[ -z "$(missing)" ] || give_up "They are still not on the PATH."
