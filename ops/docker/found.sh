#!/bin/sh
# Makes the keys and the genesis of a network of four, once. Each node's directory below $1 gets its own key and the
# genesis, node-1 also the faucet's key, and where there is a directory public it gets the genesis alone; then `udg --data-dir` on that directory needs nothing else. $2, where it is given,
# is whom they shall belong to.
set -eu
umask 077
root=${1:?the directory that holds node-1 to node-4}
owner=${2:-}
coins=100000

# For those who need the genesis and no key. Everybody may read it.
publish() {
  if [ -d "$root/public" ]; then install -m 644 "$root/node-4/genesis.json" "$root/public/genesis.json"; fi
}

if [ -e "$root/node-4/genesis.json" ]; then
  publish
  echo "the network is there already"
  exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The public part, which `udg genesis key` prints; the secret one stays in the file.
make_key() { udg genesis key --out "$1" | sed -n 's/^ *public key *//p'; }

set --
for n in 1 2 3 4; do
  set -- "$@" --validator "$(make_key "$scratch/node-$n.key"):$coins"
done
udg genesis new --name udg-compose --out "$scratch/genesis.json" \
  --faucet "$(make_key "$scratch/faucet.key")" "$@"

# The last node's genesis comes last: it says that everything before it is in place, and an attempt that was broken off
# is made anew.
for n in 1 2 3 4; do
  mkdir -p "$root/node-$n"
  cp "$scratch/node-$n.key" "$root/node-$n/validator.key"
  if [ "$n" = 1 ]; then cp "$scratch/faucet.key" "$root/node-1/faucet.key"; fi
  cp "$scratch/genesis.json" "$root/node-$n/genesis.json.new"
  if [ -n "$owner" ]; then chown -R "$owner" "$root/node-$n"; fi
  mv "$root/node-$n/genesis.json.new" "$root/node-$n/genesis.json"
done

publish
