# First process inside: it says that the sandbox stands, waits for the command and reaps what daemons leave behind.
# When it exits, the kernel ends everything else in its process namespace. $1: folder to run in, then the command.
printf s >&5
exec 5>&-
cd -- "$1" || exit 126
shift
# The shell's own remarks ("Killed") are not the command's output.
exec 6>&2 2>/dev/null
"$@" 2>&6 6>&- 4>&-
exit $?
