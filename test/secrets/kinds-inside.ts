// What lies about in the sandbox, and beside it.
import { ANYTHING, ask, bearer, http, type Kind, pick, type Scene } from './attempt.js';

const shell = (command: string) => ({ shell: command });
/** A program that has used the value, and is alive: Python keeps its answer, curl its request. */
const using = ({ bound, token }: Scene) => `curl -sSN -m 9 -H 'Authorization: Bearer ${token}' https://${bound}/echo/0/body https://${bound}/held/0 >/dev/null & sleep 1;`; // prettier-ignore
/** All of a process, up to 8 MiB a piece, that can be written to, of each process that is seen. */
const MEMORY = `import glob, os, re
for maps in glob.glob('/proc/[0-9]*/maps'):
  if int(maps.split('/')[2]) in (os.getpid(), os.getppid()): continue
  try:
    with open(maps) as regions, open(maps[:-4] + 'mem', 'rb', 0) as memory:
      for line in regions:
        found = re.match('([0-9a-f]+)-([0-9a-f]+) rw', line)
        if not found: continue
        start, end = (int(part, 16) for part in found.groups())
        try:
          memory.seek(start)
          data = memory.read(min(end - start, 1 << 23)).replace(bytes(64), b'')
          open('MEMORY', 'ab').write(data); print(maps, len(data), flush=True)
        except (OSError, ValueError): pass
  except OSError as error: print(maps, error)`;

const ALL: Kind[] = [
  {
    name: 'variables of processes',
    shows: /mwsec_/,
    make: (scene, n) => shell(`${using(scene)} ${pick(['cat /proc/[0-9]*/environ', 'env; export -p; set', 'cat /proc/self/environ /proc/1/environ'], n)}`), // prettier-ignore
  },
  {
    name: 'command lines',
    make: (scene, n) => shell(`${using(scene)} ${pick(['cat /proc/[0-9]*/cmdline', 'ps auxwwwe', 'cat /proc/[0-9]*/{comm,stat,status,cmdline}; ls -l /proc/[0-9]*/{exe,cwd}'], n)}`), // prettier-ignore
  },
  {
    name: 'memory of processes',
    shows: /\/maps \d+/,
    // It is in a file, and goes with it: it has tens of megabytes.
    make: (scene, n) => shell(`${using(scene)} mkdir -p memory; python3 - <<'END'\n${MEMORY.replace('MEMORY', `memory/${n}`)}\nEND`), // prettier-ignore
  },
  {
    name: 'core dumps',
    make: (scene, n) => shell(`ulimit -c unlimited; mkdir -p cores; cd cores; curl -sSN -m 9 -H 'Authorization: Bearer ${scene.token}' https://${scene.bound}/held/0 & sleep 1; kill -${pick(['SEGV', 'ABRT', 'QUIT'], n)} $!; wait; cat /proc/sys/kernel/core_pattern; ls -la . /tmp; cat core* 2>/dev/null`), // prettier-ignore
  },
  {
    name: 'the key of the authority',
    make: (_scene, n) => shell(pick([`grep -rl 'PRIVATE KEY' /etc /opt /tmp ~ /dev /run /var 2>/dev/null; echo "searched: $?"`, 'cat /etc/ssl/certs/ca-certificates.crt /opt/millwright/* 2>/dev/null', 'find / -xdev ( -name "*.key" -o -name "*.p12" -o -name "*.jks" -o -name cacerts ) 2>/dev/null -exec cat {} +', 'ls -lR /opt/millwright /proc/self/fd'], n)), // prettier-ignore
  },
  {
    name: 'the socket of the proxy',
    shows: ANYTHING,
    make: ({ bound, token }, n) => shell(`node -e '
      const socket = require("net").connect("/opt/millwright/network");
      socket.on("data", (data) => process.stdout.write(data)).on("error", (error) => console.log(error.message)).on("close", () => process.exit());
      socket.write(${JSON.stringify(pick([`GET / HTTP/1.1\r\nHost: a\r\n\r\n`, `GET /secrets HTTP/1.1\r\nHost: ${bound}\r\n${bearer(token)}\r\n\r\n`, `{"type":"secrets"}\n`, `OPTIONS * HTTP/1.1\r\nHost: a\r\n${bearer(token)}\r\n\r\n`, `TRACE / HTTP/1.1\r\nHost: a\r\n${bearer(token)}\r\n\r\n`, `GET http://${bound}/ HTTP/1.1\r\nHost: ${bound}\r\n${bearer(token)}\r\n\r\n`], n)).replaceAll("'", '')});
      setTimeout(() => process.exit(), 2500);'`), // prettier-ignore
  },
  {
    name: 'the socket of another task',
    // Else it leads nowhere, and says so.
    shows: /ENOENT|EACCES|ENOTDIR|ECONNREFUSED|EPERM/,
    make: ({ strange }, n) => shell(`node -e '
      const socket = require("net").connect(${JSON.stringify(pick([strange.socket, `/proc/1/root${strange.socket}`, `/proc/self/root/../..${strange.socket}`, `/workdir/../../..${strange.socket}`, `/opt/millwright/../${strange.socket.split('/').at(-1)}`], n))});
      socket.on("error", (error) => console.log(error.code)).on("data", (data) => process.stdout.write(data));
      socket.write("CONNECT allowed.test:1 HTTP/1.1\\r\\n\\r\\n"); setTimeout(() => process.exit(), 2000);'`), // prettier-ignore
  },
  {
    name: 'the placeholder of another task',
    shows: /seen allowed/,
    make: ({ bound, strange }) => ask(bound, { lines: [bearer(strange.token)] }),
  },
  {
    name: 'folders of the host, and of another task',
    make: ({ strange }, n) => shell(`cd ${strange.folder} && find . -type f -exec cat {} + ; ${pick([`cat ${strange.socket}.crt`, `ls -la ${strange.folder} /proc/1/root/ /root /var/lib/millwright`, 'cat /etc/shadow /root/.bash_history /proc/1/environ', 'mount; cat /proc/self/mountinfo', `cat /workdir/../*/*; ls -la /workdir/..`], n)}`), // prettier-ignore
  },
  {
    name: 'a debugger at the forwarder',
    make: (scene, n) => shell(`${using(scene)} pid=$(grep -al forwarder /proc/[0-9]*/cmdline | grep -v self | head -1 | cut -d/ -f3); ${pick(['timeout 20 gdb -p $pid -batch -ex "info proc mappings" -ex "generate-core-file cores.$pid" 2>&1; cat cores.* 2>/dev/null', 'kill -USR1 $pid; sleep 1; curl -sS -m 3 http://127.0.0.1:9229/json', 'cat /proc/$pid/environ /proc/$pid/cmdline; ls -l /proc/$pid/fd', 'kill -QUIT $pid; kill -ABRT $pid; ls -la . /tmp'], n)}`), // prettier-ignore
  },
  {
    name: 'ports and sockets that listen',
    make: (_scene, n) => shell(pick(['cat /proc/net/unix /proc/net/tcp', 'ss -xlpn; ss -tlpn', 'for port in 22 80 443 5432 6379 3000 8080 9229 61080; do curl -sS -m 1 http://127.0.0.1:$port/; done; true', 'node -e \'require("net").connect({path: "\\0millwright"}).on("error", (e) => console.log(e.message))\''], n)), // prettier-ignore
  },
  {
    name: 'what programs write down',
    shows: /mwsec_|fatal|seen|HTTP/,
    make: ({ bound, basic, token }, n) => shell(`mkdir -p written.${n}; cd written.${n}; ${pick([`curl -sSv --trace-ascii trace -D head -c jar -o body -H 'Authorization: Bearer ${token}' https://${bound}/echo/0/cookie; cat *`, `GIT_TRACE=1 GIT_CURL_VERBOSE=1 GIT_TRACE_CURL=$PWD/trace git clone https://x:${token}@${basic}/none; cat trace`, `SSLKEYLOGFILE=$PWD/keys curl -sS -H 'Authorization: Bearer ${token}' https://${bound}/a; cat keys`, `NODE_DEBUG=http,https,tls,net node -e "require('https').get('https://${bound}/echo/0/body', { headers: { authorization: 'Bearer ${token}' } }, (a) => a.pipe(process.stdout))" 2>&1`], n)}`), // prettier-ignore
  },
  {
    name: 'a value that comes again by a detour',
    make: ({ bound, token, key }, n) => ({ to: bound, send: [http(bound, { target: pick([`/echo/0/body?key=${key}&other=1`, `/echo/0/body?key=${key}&key=${key}`, `/echo/0/location?key=${key}`, `/to/302?%2Fa`], n), lines: [bearer(token)] })] }), // prettier-ignore
  },
];

export const INSIDE = ALL.map((kind) => ({ ...kind, slow: true }));
