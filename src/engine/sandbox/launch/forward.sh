# Starts the way out, waits until it takes connections, and becomes the command. $1: node, $2: the forwarder, $3: its port, $4: the
# socket that leads out, then the command. A child of a child: the command finds no child that it did not start.
: "$( ("$1" --max-old-space-size=64 "$2" "$3" "$4" </dev/null 2>/dev/null &) )"
shift 4
exec "$@"
