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
printf programs=
for program in node npm npx yarn pnpm bun deno tsc python3 pip3 uv perl ruby php go cargo rustc java javac mvn gradle dotnet \
  gcc g++ clang make cmake git rg jq curl wget sqlite3 psql zip unzip; do
  command -v "$program" >/dev/null && printf '%s ' "$program"
done
echo
echo "seccomp=$(sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status)"
grep -q '^ *lo:' /proc/net/dev && (exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null && echo loopback=yes
# Its answer to what is no request for a host.
if [ -n "${WAY_OUT:-}" ]; then
  (exec 3<>"/dev/tcp/127.0.0.1/$WAY_OUT" && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && grep -q 'This is a proxy' <&3) 2>/dev/null && echo network=yes
fi
exit 0
