# Asked once at boot, inside. A guard that does not hold ends it; what is there is printed as name=value.
set -u
fail() {
  echo "$1" >&2
  exit 1
}
capabilities() {
  grep -E '^Cap(Eff|Prm|Bnd|Amb):' /proc/self/status | grep -qv '0000000000000000$' && fail 'capabilities are left'
  unshare --user true 2>/dev/null && fail 'a nested user namespace can be made'
  [ -w /proc/sys/kernel/core_pattern ] && fail "the host's core_pattern can be written"
  [ -w /usr ] && fail '/usr can be written'
  [ -e /etc/shadow ] && fail "the host's /etc is visible"
  [ "$(grep -c : /proc/net/dev)" -gt 1 ] && fail 'there is a network device'
  [ $$ -lt 100 ] || fail 'it sees the processes of the host'
}
[ "${UNGUARDED:-}" = 1 ] || capabilities
echo "oom=$(cat /proc/self/oom_score_adj)"
(echo 0 >/proc/self/oom_score_adj) 2>/dev/null && echo oomlowered=yes
for program in node npm git rg; do
  "$program" --version >/dev/null 2>&1 && echo "$program=yes"
done
echo "seccomp=$(sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status)"
grep -q '^ *lo:' /proc/net/dev && (exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null && echo loopback=yes
exit 0
