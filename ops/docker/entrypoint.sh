#!/bin/sh
# Runs udg in a container. Docker's `on-failure` starts a container again after every exit code but 0, and after 100, 101 and 102
# a node must not be started again: the container then ends with 0, and its last line says which code it was.
set -u

# A command, such as `udg genesis`, needs no watching; an archive is a node.
case ${1:-} in
  "" | -* | archive) ;;
  *) exec udg "$@" ;;
esac

# Otherwise the shell would give a background process no input.
exec 3<&0
udg "$@" <&3 &
node=$!
trap 'kill -TERM "$node"' TERM
trap 'kill -INT "$node"' INT

# A signal ends a wait, and the node takes its time to stop.
while :; do
  wait "$node"
  code=$?
  kill -0 "$node" 2>/dev/null || break
done

case $code in
  100 | 101 | 102)
    echo "udg ended with $code: do not start it again before reading docs/operations/exit-$code.md" >&2
    exit 0
    ;;
esac
exit "$code"
