# First process inside: it says that the sandbox stands, waits for the command and reaps what daemons leave behind.
# When it exits, the kernel ends everything else in its process namespace. $1: folder to run in, then the command.
# When nobody hears it, the worker died while the sandbox was being made. The first process gets no SIGPIPE for that.
printf s >&5 || exit 126
exec 5>&-
cd -- "$1" || exit 126
shift
# The shell's own remarks ("Killed") are not the command's output.
exec 6>&2 2>/dev/null
"$@" 2>&6 6>&- 4>&-
exit $?
