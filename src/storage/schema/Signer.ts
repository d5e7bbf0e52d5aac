/** The schema of `signer.db`: what a remote signer has signed, synced to disk with every write. */
import type { Migration } from "../sqlite/Migration.js"

const first = `
create table meta (
  -- What stands once: 'genesis' is the canonical encoding of the network's genesis, 'genesis_hash' its hash.
  name text not null primary key,
  value blob not null
) strict, without rowid;

create table signing_keys (
  -- For each validator key the highest place of a vertex that it has signed or may have signed. A key without a row signs nothing.
  public_key blob not null primary key,
  taken_epoch integer not null,
  taken_round integer not null,
  base blob,   -- of the last vertex; none before the first
  digest blob, -- SHA-256 of the bytes that were signed for it
  checkpoints_taken_epoch integer not null,
  checkpoints_taken_round integer not null
) strict, without rowid;

create table signed_checkpoints (
  -- The highest checkpoints that each key has signed: at most one for a place.
  public_key blob not null,
  epoch integer not null,
  round integer not null,
  digest blob not null, -- SHA-256 of the bytes that were signed
  primary key (public_key, epoch, round)
) strict, without rowid;
`

export const migrations: ReadonlyArray<Migration> = [{ version: 1, statements: first }]
