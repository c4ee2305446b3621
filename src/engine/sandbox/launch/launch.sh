# The small parent of one box: it starts the box ("$@" after two arguments), and ends it when the worker
# is gone (end of file on 3) or has been silent, which a stopped worker is too: for "$1" seconds from the start, for "$2"
# after each heartbeat.
# 3: heartbeats from the worker, 'q' once it has seen the end of 4; 4: open as long as the box lives; 5: "started";
# 6: a file for the program that makes the box; 7: what the worker and the first process of the box say to each other.
for open in /proc/self/fd/*; do
  open=${open##*/}
  # Whatever else the worker was started with is no business of the sandbox.
  if [ "$open" -gt 7 ]; then eval "exec $open>&-"; fi
done
patience=$1
silence=$2
shift 2
# A group of its own; without it the shell would have the sandbox ignore SIGINT and SIGQUIT.
set -m
"$@" 3<&- &
sandbox=$!
exec </dev/null >/dev/null 2>&1 4>&- 5>&- 6<&- 7>&-
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
# Without a process namespace each of its children leads the group of a command.
for child in "$sandbox" $children; do kill -KILL -- "-$child"; done
kill -KILL $children
# The first wait may only tell that it has stopped. After that bash may miss its end, and a wait that returns at once would go
# round for ever: one did so for two hours. What has ended and is not waited for (Z) has ended.
while read -r _ _ state _ <"/proc/$sandbox/stat" && [ "$state" != Z ]; do wait "$sandbox"; done
kill -KILL $$
