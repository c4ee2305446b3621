# First process of a box: it says that the box stands, starts each command that the worker names, and reaps what daemons leave behind. When it
# exits, the kernel ends everything else in its process namespace. A command finds none of its descriptors: 7 is a socket, which cannot be opened
# through /proc.
# 4: open as long as the box lives; 5: "started"; 7: names of commands from the worker, what becomes of them to the worker.
# $1: the folder in which the pipes of a command lie, and its words; then how the way out is opened: node, the forwarder, its port, the socket.

# When nobody hears it, the worker died while the box was being made. The first process gets no SIGPIPE for that.
printf s >&5 || exit 126
# The shell's own remarks ("Killed") are nobody's output.
exec 5>&- </dev/null >/dev/null 2>&1
folder=$1
shift
# A group for each command; without it the shell would have them ignore SIGINT and SIGQUIT.
set -m

# Waits until the way out takes connections, which somebody inside may have ended. A child of a child: no command finds a child that it did not start.
# SIGUSR1, which anybody inside may send, opens the debugger of node: through it a command would go on in the way out behind its end and its limits.
# The address is nobody's (RFC 5737), so that cannot be opened.
lead_out() {
  (exec 3<>"/dev/tcp/127.0.0.1/$3") && return
  : "$( ("$1" --inspect-port=192.0.2.1:61081 --max-old-space-size=64 "$2" "$3" "$4" 4>&- 7>&- &) )"
}

# One command. $1: its id, $2: "i" when it has an input. What keeps 8 open tells the worker by its end that this process has ended.
enter() {
  exec 4>&- 8>"$folder/$1.life" || exit
  if [ "$port" ]; then lead_out "${way[@]}" 8>&-; fi
  mapfile -d '' -t words <"$folder/$1.words"
  printf 'p %s %s\n' "$1" "$BASHPID" >&7
  # Nobody reads from them before the worker has put this process where its limits are.
  exec 6>"$folder/$1.out" || exit
  exec 9>"$folder/$1.err" || exit
  exec 3</dev/null
  # A pipe without a name, with a cat before it: another open of one that has a name waits for somebody who writes.
  if [ "$2" = i ]; then
    exec 5<"$folder/$1.in" || exit
    exec 3< <(exec cat <&5 5<&- 6>&- 7>&- 8>&- 9>&-)
    exec 5<&-
  fi
  "${words[@]}" <&3 >&6 2>&9 3<&- 5>&7 6>&- 7>&- 8>&- 9>&-
  printf 'e %s %s\n' "$1" "$?" >&7
}

way=("$@")
port=${3-}
while IFS=' ' read -r id how <&7; do
  enter "$id" "$how" &
done
