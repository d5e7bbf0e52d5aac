/**
 * The schema of an archive in PostgreSQL. Hashes are 32 and addresses 20 raw bytes. Tables that grow with the network
 * are partitioned by commit index, so that old partitions can be detached.
 */

import { KINDS } from "../ledger/rules/PostingBlocks.js"

export interface Migration {
  readonly version: number
  /** It adds data that existing commits cannot provide, so there must be none. */
  readonly needsEmpty: boolean
  readonly statements: string
}

/**
 * Commits per partition: a day and a half at two per second. Must not change, since every partition's bounds depend on
 * it.
 */
export const PARTITION_COMMITS = 250_000

/**
 * The tables partitioned by commits; `account_postings` by the last commit of its block, which is in the same
 * partition.
 */
export const PARTITIONED = [
  "commits",
  "vertices",
  "transactions",
  "account_history",
  "account_postings",
  "account_states",
  "record_states",
]

/** The channel that announces each commit by its index. */
export const CHANNEL = "udg_commits"

const first = `
create table network (
  id boolean primary key default true check (id),
  genesis_hash bytea not null,
  network_id text not null
);
comment on table network is 'The network that this archive is of: one row.';

create table position (
  id boolean primary key default true check (id),
  commit_index bigint not null,
  commit_hash bytea not null,
  effects_digest bytea not null,
  last_sequence bigint not null
);
comment on table position is 'The last commit that is here, with everything of it and of those before: one row.';

create table commits (
  commit_index bigint not null primary key,
  epoch bigint not null,
  leader_round bigint not null,
  leader_hash bytea not null,
  previous bytea not null,
  hash bytea not null,
  time timestamptz not null,
  effects_digest bytea not null,
  total_supply bigint not null,
  vertices integer not null,
  transactions integer not null
) partition by range (commit_index);
comment on table commits is 'Every commit; 0 is the genesis.';
create index commits_by_round on commits (leader_round);
create index commits_by_time on commits (time);

create table vertices (
  commit_index bigint not null,
  position integer not null,
  hash bytea not null,
  epoch bigint not null,
  round bigint not null,
  author bytea not null,
  time timestamptz not null,
  minted bigint not null,
  transactions integer not null,
  bytes bytea not null,
  primary key (commit_index, position)
) partition by range (commit_index);
comment on table vertices is 'Every vertex that a commit ordered, in its order; minted is what its reward brought into being.';
create index vertices_by_hash on vertices (hash);
create index vertices_by_author on vertices (author, commit_index, position);
create index vertices_by_round on vertices (round);

create table transactions (
  commit_index bigint not null,
  sequence bigint not null,
  hash bytea not null,
  vertex_position integer not null,
  position integer not null,
  type text not null,
  sender bytea not null,
  nonce bigint not null,
  recipient bytea,
  amount bigint,
  fee bigint not null,
  failure text,
  failure_reason text,
  proposal_id bigint,
  words text not null,
  bytes bytea not null,
  primary key (commit_index, sequence)
) partition by range (commit_index);
comment on table transactions is 'Every executed transaction, numbered in the order of execution; words are its memo or its proposal''s texts.';
create index transactions_by_hash on transactions (hash);
create index transactions_by_type on transactions (type, sequence);
create index transactions_by_words on transactions using gin (to_tsvector('simple', words)) where words <> '';

create table account_history (
  address bytea not null,
  commit_index bigint not null,
  sequence bigint not null,
  kind text not null,
  amount bigint,
  primary key (address, commit_index, sequence, kind)
) partition by range (commit_index);
comment on table account_history is 'What an account took part in: transactions by their sequence, and with sequence 0 what else happened to it.';

create table accounts (
  address bytea not null primary key,
  commit_index bigint not null,
  balance bigint not null,
  nonce bigint not null,
  record bytea not null
);
comment on table accounts is 'Every account as of the last commit; record is its canonical encoding.';
create index accounts_by_balance on accounts (balance desc, address);

create table account_states (
  address bytea not null,
  commit_index bigint not null,
  balance bigint not null,
  nonce bigint not null,
  record bytea,
  primary key (address, commit_index)
) partition by range (commit_index);
comment on table account_states is 'An account after each commit that changed it; record is null where it was left empty.';

create table record_states (
  kind smallint not null,
  key bytea not null,
  commit_index bigint not null,
  value bytea,
  primary key (kind, key, commit_index)
) partition by range (commit_index);
comment on table record_states is 'Any other record of the ledger after each commit that changed it; value is null where it was deleted.';

create table checkpoints (
  round bigint not null primary key,
  epoch bigint not null,
  hash bytea not null,
  is_closing boolean not null,
  signed bytea not null
);
comment on table checkpoints is 'Every checkpoint that a quorum signed, encoded with its signatures.';

create table epochs (
  epoch bigint not null primary key,
  base bytea not null,
  record bytea not null
);
comment on table epochs is 'Every epoch: the closing checkpoint before it, and its committee.';
`

const second = `
create type posting_kind as enum (${KINDS.map((kind) => `'${kind}'`).join(", ")});

create table account_postings (
  address bytea not null,
  until bigint not null,
  kind posting_kind not null,
  number integer not null,
  amount bigint not null,
  proposal_id bigint,
  since timestamptz not null,
  time timestamptz not null,
  round bigint not null,
  primary key (address, until, kind, number)
) partition by range (until);
comment on table account_postings is 'What was added to a balance other than by a transfer; rewards, fees and council shares of 10 000 commits are one row, with number 0, and until is the last of them. Slashes change no balance.';

drop table account_history;

create table account_history (
  address bytea not null,
  commit_index bigint not null,
  sequence bigint not null,
  primary key (address, sequence, commit_index)
) partition by range (commit_index);
comment on table account_history is 'The transactions that an account sent or received.';

alter table transactions add column charged bigint not null;
comment on column transactions.charged is 'What it took from the sender in all: fee, amount, cost of shares, bond.';

alter table accounts
  add column has_extras boolean not null,
  add column name text,
  add column stake bigint,
  add column validator bytea;
comment on column accounts.has_extras is 'Whether its record has more than a balance and a nonce.';
comment on column accounts.validator is 'Whom it delegates to.';
create index accounts_with_extras on accounts (address) where has_extras;
create index accounts_by_name on accounts (name) where name is not null;
create index accounts_by_stake on accounts (stake desc, address) where stake is not null;
create index accounts_by_validator on accounts (validator, address) where validator is not null;

create table records (
  kind smallint not null,
  key bytea not null,
  commit_index bigint not null,
  value bytea not null,
  primary key (kind, key)
);
comment on table records is 'Any other record of the ledger as of the last commit.';

create index checkpoints_by_hash on checkpoints (hash);
create index checkpoints_by_closed_epoch on checkpoints (epoch) where is_closing;
`

/** Pages of all accounts' transactions begin anywhere. */
const third = `
create index transactions_by_sequence on transactions (sequence);
`

const SECONDS_OF_HOUR = 3_600

/** Sums that would otherwise need a full scan. */
const fourth = `
create table hours (
  hour bigint not null primary key,
  commits bigint not null,
  vertices bigint not null,
  transactions bigint not null,
  failed bigint not null,
  fees numeric not null,
  total_supply bigint not null
);
comment on table hours is 'What the commits of an hour did, by the number of the hour since 1970; total_supply is that after the last one.';

insert into hours
select floor(extract(epoch from c.time) / ${SECONDS_OF_HOUR}), count(*), sum(c.vertices), sum(c.transactions),
  coalesce(sum(t.failed), 0), coalesce(sum(t.fees), 0), (array_agg(c.total_supply order by c.commit_index desc))[1]
from commits c
left join (
  select commit_index, count(failure) as failed, sum(fee) as fees from transactions group by commit_index
) t using (commit_index)
group by 1;
`

/** Changes since a commit, for readers that keep the rest in memory. */
const fifth = `
comment on column accounts.has_extras is 'Whether its record has, or once had, more than a balance and a nonce.';
create index accounts_with_extras_by_commit on accounts (commit_index) where has_extras;
create index records_by_commit on records (commit_index);
create index account_states_emptied on account_states (commit_index) where record is null;
create index record_states_deleted on record_states (commit_index) where value is null;
`

const sixth = `
comment on table epochs is 'Every epoch but the first, which follows from the genesis: the closing checkpoint before it, and its committee.';
`

/** Names by prefix, whatever the database's collation. */
const seventh = `
create index accounts_by_name_beginning on accounts (name collate "C") where name is not null;
`

export const migrations: ReadonlyArray<Migration> = [
  { version: 1, needsEmpty: false, statements: first },
  { version: 2, needsEmpty: true, statements: second },
  { version: 3, needsEmpty: false, statements: third },
  { version: 4, needsEmpty: false, statements: fourth },
  { version: 5, needsEmpty: false, statements: fifth },
  { version: 6, needsEmpty: false, statements: sixth },
  { version: 7, needsEmpty: false, statements: seventh },
]
