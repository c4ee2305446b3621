# The last step before a command: it says that the command begins, and goes to its folder. 5: to the worker. $1: the id of the command,
# $2: the folder, then the command.
printf 's %s\n' "$1" >&5 || exit 126
exec 5>&-
cd -- "$2" || exit 126
shift 2
exec "$@"
