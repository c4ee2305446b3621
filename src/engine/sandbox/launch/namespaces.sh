# Builds one sandbox with util-linux alone. Runs as first process of new namespaces, root of its user namespace only.
# $1: folder with the mount points of the new root, $2: shell command that brings the loopback up, $3: number of
# mount(2) here, or nothing, $4: "deep" where something is mounted below what is bound, then the limits and the command. 4: gets our process id as the host sees it (its /proc is still mounted), 6: mounts in fstab(5) form.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
IFS=' ' read -r pid rest < /proc/self/stat
echo "pid $pid" >&4
root=$1
# One mount(8) for all of them, a process each would double the cost of a start; it wants a file, not a pipe.
mount --all --fstab /proc/self/fd/6
eval "$2"
cd "$root"
# The old root comes to lie on the new one and is then taken away (pivot_root(2), NOTES).
pivot_root . .
umount --lazy .
cd /
# What came along below a folder is as the host has it: it becomes read-only too, one by one, because only mount(8) from 2.39 on can do it at once.
if [ "$4" = deep ]; then
  while read -r _ _ _ _ at flags _; do
    case $at:$flags, in
    /dev/*|/proc:*|/proc/*|/tmp:*|/home/agent:*|/workdir:*|*:ro,nosuid,nodev,*) continue ;;
    *noexec*) flags=ro,nosuid,nodev,noexec ;;
    *) flags=ro,nosuid,nodev ;;
    esac
    # White space in it comes as an octal number.
    case $at in *\\*) at=$(printf %b "$(printf %s "$at" | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g')") ;; esac
    mount -o "remount,bind,$flags" none "$at"
  done </proc/self/mountinfo
fi
# The one user namespace that follows is the last.
echo 1 > /proc/sys/user/max_user_namespaces
mount=$3
shift 4
# The shell exports where it came from, a path of the host, and what the shell before it was started with.
unset OLDPWD PWD SHLVL _
exec 4>&- 6<&-
# A second user namespace owns none of these mounts; without the three options the command would keep every
# capability in it. The command is an ordinary user: tools that treat root differently would fail here.
set -- setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"
# /proc becomes read-only, or a command could lower its oom_score_adj; after unshare(1) has written there what the
# namespace maps, and by mount(2), because mount(8) refuses this user. 0x102f: bind, remount, noexec, nodev, nosuid, ro.
[ -z "$mount" ] || set -- perl -e '@w = ("none", "/proc"); syscall(shift, @w, "$w[0]", 0x102f, 0); exec @ARGV' "$mount" "$@"
exec unshare --user --mount --map-user=1000 --map-group=1000 --keep-caps "$@"
