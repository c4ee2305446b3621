#!/usr/bin/env bash
# What the image holds and how it starts. The Dockerfile calls it, and so does CI, which has no container engine.
#   image-root.sh packages        prints the Debian packages beside those of the base
#   image-root.sh lay DIR         makes the files of /app in DIR: packages for production, and what was built here
#   image-root.sh run DIR DATA [NAME=value …] [-- COMMAND…]
#                                 runs ENTRYPOINT and CMD of the Dockerfile, or COMMAND, by its USER, without rights, on a
#                                 read-only root of this machine's programs with DIR at /app. DATA at /data can be written, and a /tmp in memory.
#                                 SIGTERM is handed on; the exit code is the command's. It needs bubblewrap.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# sh, coreutils, findutils, tar, util-linux and perl-base are in every Debian.
packages=(bubblewrap ca-certificates git tini)

# What the service reads at run time, besides its packages.
built=(dist dist-console packages/sdk/dist packages/cli/dist packages/cli/bin.js deploy/image)
manifests=(package.json package-lock.json packages/sdk/package.json packages/cli/package.json console/package.json)

fail() {
  echo "image-root.sh: $1" >&2
  exit 2
}

lay() {
  [ -z "$(ls -A "$1" 2>/dev/null)" ] || fail "$1 is not empty."
  mkdir -p "$1"
  local to path
  to=$(cd "$1" && pwd)
  cd "$root"
  for path in "${built[@]}"; do
    [ -e "$path" ] || fail "$path is missing: npm run build makes it."
  done
  cp --parents "${manifests[@]}" "$to"
  (cd "$to" && npm ci --omit=dev --no-audit --no-fund)
  cp -R --parents "${built[@]}" "$to"
  # Maps are for those who have the sources.
  find "$to/dist" -name '*.map' -delete
  # The command `millwright` is a link to it.
  chmod +x "$to/dist/cli.js"
  # Its user reads everything, and changes nothing.
  chmod -R go+rX,go-w "$to"
}

# listed ENTRYPOINT: its words, one a line.
listed() {
  sed -n "s/^$1 \[\(.*\)\]\$/\1/p" "$root/Dockerfile" | tr -d '"' | sed 's/, */\n/g'
}

run() {
  local app data user entry command settings=() env=() rights=() pipe inner code=0
  app=$(cd "$1" && pwd) data=$(cd "$2" && pwd)
  shift 2
  command -v bwrap >/dev/null || fail 'bubblewrap is missing.'
  user=$(sed -n 's/^USER \([0-9]*\):.*/\1/p' "$root/Dockerfile")
  mapfile -t entry < <(listed ENTRYPOINT)
  mapfile -t command < <(listed CMD)
  read -ra settings < <(sed -n 's/^ENV //p' "$root/Dockerfile")
  while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1") && shift; done
  if [ $# -gt 0 ]; then command=("${@:2}"); fi
  for setting in PATH=/usr/local/bin:/usr/bin:/bin "${settings[@]}"; do env+=(--setenv "${setting%%=*}" "${setting#*=}"); done
  # By whom a container engine would start it: without a right that it could use or get.
  if [ "$(id -u)" -eq 0 ]; then
    chown "$user:$user" "$data"
    env+=(--cap-add ALL)
    # As root bwrap covers parts of /proc, and no sandbox could then mount its own: `systempaths=unconfined` for a container.
    rights=(sh -c 'mount -t proc proc /proc && exec "$@"' sh setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
  else
    env+=(--unshare-user --uid "$user" --gid "$user")
  fi
  # bwrap hands on no signals: they go to its child, by the number that it tells.
  pipe=$(mktemp -u)
  mkfifo -m 600 "$pipe"
  bwrap --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent --clearenv --info-fd 8 \
    --ro-bind /usr /usr --ro-bind /etc /etc --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
    --perms 0644 --ro-bind-data 9 /etc/passwd --proc /proc --dev /dev --perms 1777 --tmpfs /dev/shm --perms 1777 --tmpfs /tmp \
    --ro-bind "$app" /app --bind "$data" /data --chdir /app --remount-ro / "${env[@]}" \
    "${rights[@]}" "${entry[@]}" "${command[@]}" 8>"$pipe" 9<<<"$(printf 'root:x:0:0::/:/bin/sh\nmillwright:x:%s:%s::/data:/usr/sbin/nologin' "$user" "$user")" <&0 &
  inner=$(sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p' <"$pipe")
  rm -f "$pipe"
  trap 'kill -TERM "$inner" 2>/dev/null || true' TERM INT
  # A signal ends `wait`, not the command.
  while kill -0 $! 2>/dev/null; do
    code=0
    wait $! || code=$?
  done
  return "$code"
}

case ${1-} in
packages) echo "${packages[@]}" ;;
lay) [ $# -eq 2 ] || fail 'lay needs a folder.' && lay "$2" ;;
run) [ $# -ge 3 ] || fail 'run needs the folder that `lay` made and one for /data.' && run "${@:2}" ;;
*) fail 'packages, lay DIR or run DIR DATA is expected.' ;;
esac
