/** The schema of `signed.db`: this validator's signatures, synced to disk with every write. */
import type { Migration } from "../sqlite/Migration.js"

const first = `
create table meta (
  -- What stands once: 'genesis' is the canonical encoding of the network's genesis, 'genesis_hash' its hash.
  name text not null primary key,
  value blob not null
) strict, without rowid;

create table own_vertices (
  -- Every vertex signed here, before anybody else saw it. At most one for an author's round of an epoch, ever.
  epoch integer not null,
  round integer not null,
  author blob not null,
  hash blob not null,
  bytes blob not null, -- the encoded vertex: signed header and body
  unique (author, epoch, round)
) strict;

create index own_vertices_by_epoch on own_vertices (epoch);

create table foreign_headers (
  -- Headers that carry this validator's signature but were not made here: a copied key, or a restored backup.
  hash blob not null primary key,
  author blob not null,
  epoch integer not null,
  round integer not null,
  seen_at integer not null, -- milliseconds since 1970
  header blob not null      -- encoded, with its signature
) strict;

create index foreign_headers_by_slot on foreign_headers (author, epoch, round);
`

/** Peers request vertices by hash. */
const second = `
create index own_vertices_by_hash on own_vertices (hash);
`

const third = `
create table companions (
  -- Vertices that own vertices may name, inserted since the ledger's file was last synced, in the order of insertion.
  id integer not null primary key,
  epoch integer not null,
  hash blob not null,
  bytes blob not null -- the encoded vertex
) strict;
`

const fourth = `
create table intents (
  -- The last vertex of each author that was to be signed elsewhere, as it was before its signature.
  author blob not null primary key,
  hash blob not null,
  bytes blob not null -- the encoded vertex, with zeros for its signature
) strict, without rowid;
`

/** Each round wrote a page of it; the rounds of an epoch are found by their authors, which are one or two. */
const fifth = `
drop index own_vertices_by_epoch;
`

export const migrations: ReadonlyArray<Migration> = [
  { version: 1, statements: first },
  { version: 2, statements: second },
  { version: 3, statements: third },
  { version: 4, statements: fourth },
  { version: 5, statements: fifth },
]
