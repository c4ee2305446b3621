# The small parent of one sandbox: it starts the sandbox ("$@" after two arguments), and ends it when the worker
# is gone (end of file on 3) or has been silent, which a stopped worker is too: for "$1" seconds from the start, for "$2"
# after each heartbeat.
# 3: heartbeats from the worker, 'q' once it has seen the end of 4; 4: open as long as the sandbox lives; 5: "started";
# 6: a file for the program that makes the sandbox.
for open in /proc/self/fd/*; do
  open=${open##*/}
  # Whatever else the worker was started with is no business of the sandbox.
  if [ "$open" -gt 6 ]; then eval "exec $open>&-"; fi
done
# Node gives a socket as standard input, on which /dev/stdin cannot be opened. A file would be one of the host's that
# the command writes to. So it is a pipe, with a cat before it that holds nothing else open; like the pipes of the output
# it is open to the user of the sandbox.
if [ -S /proc/self/fd/0 ]; then
  exec < <(exec cat 2>/dev/null 3<&- 4>&- 5>&- 6<&-)
  chmod 0666 /proc/self/fd/0
fi
patience=$1
silence=$2
shift 2
# A group of its own; without it the shell would have the sandbox ignore SIGINT and SIGQUIT.
set -m
"$@" <&0 3<&- &
sandbox=$!
exec </dev/null >/dev/null 2>&1 4>&- 5>&- 6<&-
while IFS= read -r -n 1 -t "$patience" beat <&3; do
  if [ "$beat" = q ]; then
    wait "$sandbox"
    exit $?
  fi
  patience=$silence
done
# The first process inside is bound to the death of the one that made it, but not from its first moment on: one that
# was being made when a worker died lived on for hours. So the maker is stopped, which lets it finish a fork and begin
# no other, and its child is ended by its own id. Stopping takes the time until it next runs.
kill -STOP "$sandbox"
for _ in {1..5000}; do
  read -r _ _ state _ <"/proc/$sandbox/stat" || break
  case $state in [TtZX]) break ;; esac
done
read -r -d '' children <"/proc/$sandbox/task/$sandbox/children"
kill -KILL -- "-$sandbox" $children
# The first wait may only tell that it has stopped. After that bash may miss its end, and a wait that returns at once would go
# round for ever: one did so for two hours. What has ended and is not waited for (Z) has ended.
while read -r _ _ state _ <"/proc/$sandbox/stat" && [ "$state" != Z ]; do wait "$sandbox"; done
kill -KILL $$
