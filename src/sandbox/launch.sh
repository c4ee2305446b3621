# The small parent of one sandbox: it starts the sandbox ("$@" after the first argument), and ends it when the worker
# is gone (end of file on 3) or has been silent for "$1" seconds, which a stopped worker is too.
# 3: heartbeats from the worker, 'q' once it has seen the end of 4; 4: open as long as the sandbox lives; 5: "started";
# 6: a file for the program that makes the sandbox.
for open in /proc/self/fd/*; do
  open=${open##*/}
  # Whatever else the worker was started with is no business of the sandbox.
  if [ "$open" -gt 6 ]; then eval "exec $open>&-"; fi
done
silence=$1
shift
# A group of its own; without it the shell would have the sandbox ignore SIGINT and SIGQUIT.
set -m
"$@" <&0 3<&- &
sandbox=$!
exec </dev/null >/dev/null 2>&1 4>&- 5>&- 6<&-
while IFS= read -r -n 1 -t "$silence" beat <&3; do
  if [ "$beat" = q ]; then
    wait "$sandbox"
    exit $?
  fi
done
kill -KILL -- "-$sandbox"
wait "$sandbox"
kill -KILL $$
