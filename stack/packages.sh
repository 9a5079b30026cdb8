#!/bin/sh
# Installs the npm packages of the project, or of the given folder, if they are missing or older than the lock file.
# Prints nothing if there is nothing to do.
set -eu
cd "$(dirname "$0")/../${1:-}"
installed=node_modules/.package-lock.json

is_up_to_date() {
  [ -f "$installed" ] && [ -z "$(find package-lock.json -newer "$installed")" ]
}

! is_up_to_date || exit 0
if [ -L node_modules ]; then
  echo "node_modules${1:+ of $1} is a symbolic link, and its packages are missing or older than package-lock.json." >&2
  echo "npm ci would empty the linked folder: run npm ci there, or remove the link." >&2
  exit 1
fi
# Two at once would empty the folder for each other. The second waits, and may find the work done. The
# system ends the claim with its process. macOS has no flock.
if command -v flock >/dev/null; then
  exec 9<package-lock.json
  flock 9 || true
  ! is_up_to_date || exit 0
fi
echo "Installing the packages${1:+ of $1} (once) ..." >&2
# No package here needs its install script: binaries come as packages of their own.
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
touch "$installed"
