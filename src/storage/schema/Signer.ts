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

const second = `
alter table signing_keys
  -- 1 if the row comes from a copy of the file, which does not know what was signed after it: the key signs nothing.
  add column is_restored integer not null default 0;

create table file_mark (
  -- One row: which file this is. A copy of it has another inode or time of birth.
  id integer not null primary key check (id = 1),
  inode text, -- null if unknown
  born text   -- nanoseconds since 1970; null if unknown
) strict;
`

export const migrations: ReadonlyArray<Migration> = [
  { version: 1, statements: first },
  { version: 2, statements: second },
]
