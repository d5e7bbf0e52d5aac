/**
 * The schema of `udg.db`. Hashes are 32 and addresses 20 raw bytes, except in `accounts`, which people read and edit by
 * hand; `select hex(hash)` shows them. Comments are inside the statements, so that `.schema` shows them.
 */
import type { Migration } from "../sqlite/Migration.js"

const first = `
create table meta (
  -- What stands once: 'genesis' is the canonical encoding of the network's genesis, 'genesis_hash' its hash.
  name text not null primary key,
  value blob not null
) strict, without rowid;

create table accounts (
  -- Every account of the last commit. The node loads balances and nonces from these columns and from nowhere else.
  address text not null primary key, -- 40 lower-case hex characters
  balance integer not null,          -- sats
  nonce integer not null,
  extras blob not null               -- stake, delegation, keys, name, council seat: the account record behind its nonce
) strict, without rowid;

create table records (
  -- Every other record of the ledger as of the last commit, in its canonical bytes.
  kind integer not null, -- 2 validator, 3 proposal, 4 ballot, 5 parameters, 6 totals, 7 head, 8 epoch, 9 presence, …
  key blob not null,
  value blob not null,
  primary key (kind, key)
) strict, without rowid;

create table commits (
  -- One row for every commit this node has executed; 0 is the genesis.
  commit_index integer not null primary key,
  epoch integer not null,
  leader_round integer not null,
  leader_hash blob not null,
  previous blob not null,       -- hash of the commit before
  hash blob not null,
  time integer not null,        -- milliseconds since 1970
  effects_digest blob not null, -- chained over everything the commits changed
  vertex_count integer not null
) strict;

create index commits_by_epoch on commits (epoch, commit_index);

create table vertices (
  -- The vertices of the local DAG, ordered or not, until they are pruned. Their bytes lie apart, so that marking one as
  -- ordered does not write them again.
  id integer primary key,        -- rises in the order in which the vertices entered the DAG
  hash blob not null unique,
  epoch integer not null,
  round integer not null,
  author blob not null,
  timestamp integer not null,    -- milliseconds since 1970, as its author says
  commit_index integer,          -- which commit ordered it; null while none has
  position integer               -- from 0, in that commit's order
) strict;

create index vertices_by_epoch on vertices (epoch, id, round);

create index vertices_by_round on vertices (round, author);

create unique index vertices_by_commit on vertices (commit_index, position) where commit_index is not null;

create table vertex_bytes (
  -- The encoded vertex: signed header and body.
  vertex_id integer not null primary key references vertices (id) on delete cascade,
  bytes blob not null
) strict;

create table transaction_vertices (
  -- Where recorded transactions stood: outlives the vertex itself, as the transactions do.
  id integer primary key,
  hash blob not null,
  round integer not null,
  author blob not null,
  timestamp integer not null,
  commit_index integer not null,
  first_sequence integer not null -- of its transactions
) strict;

create index transaction_vertices_by_commit on transaction_vertices (commit_index);

create table transactions (
  -- Every transaction that was executed and recorded, in the order of execution. Kept until an explicit prune.
  sequence integer primary key autoincrement, -- never used again: the cursor of account histories
  hash blob not null unique,
  vertex_id integer not null, -- in transaction_vertices
  position integer not null,  -- in that vertex
  type integer not null,      -- the type byte: 1 Transfer, 2 StakeTx, 3 UnstakeTx, 4 DelegateTx, 5 UndelegateTx,
                              -- 6 SetCommissionTx, 7 CreateProposalTx, 8 VoteTx, 9 RegisterNameTx, 10 SetAccountPolicyTx
  failure text,               -- error code; null when it was applied
  failure_reason text,        -- in words; null when it was applied
  proposal_id integer,        -- the proposal it made
  bytes blob not null         -- as it stood in the vertex
) strict;

create table account_history (
  -- Which transactions an account took part in. Kept as long as the transactions.
  address blob not null,
  sequence integer not null, -- in transactions
  primary key (address, sequence)
) strict, without rowid;

create table checkpoints (
  -- Checkpoints this node has built or was given, by the round of their commit's leader.
  round integer not null primary key,
  epoch integer not null,
  hash blob not null,
  is_closing integer not null, -- 1 when it closes its epoch
  has_quorum integer not null, -- 1 when a quorum of its committee signed
  content blob not null        -- encoded, without signatures
) strict;

create index closing_checkpoints on checkpoints (epoch) where is_closing = 1;

create index quorum_checkpoints on checkpoints (round) where has_quorum = 1;

create table checkpoint_signatures (
  -- Who signed a checkpoint.
  round integer not null references checkpoints (round) on delete cascade,
  validator blob not null,
  signature blob not null,
  primary key (round, validator)
) strict, without rowid;

create table pending_transactions (
  -- The mempool, so that it survives a restart.
  hash blob not null primary key,
  received_at integer not null, -- milliseconds since 1970
  bytes blob not null
) strict;
`

const second = `
create table openings (
  -- The running epoch, which has the highest number, and the one before it: the committee, and the commit they follow on.
  epoch integer not null primary key,
  base blob not null,         -- content hash of the closing checkpoint before
  record blob not null,       -- the encoded epoch record
  commit_index integer not null,
  commit_hash blob not null,
  leader_round integer not null,
  time integer not null       -- of that commit, milliseconds since 1970
) strict;

alter table checkpoints add column is_built integer not null default 0; -- 1 when this node has built it itself
`

const third = `
create table accounts_before (
  -- Accounts as they stood when an epoch closed, of those that were changed since then, or since then and the next close.
  epoch integer not null, -- the one that closed
  address text not null,
  balance integer,        -- null, as nonce and extras, of an account that was not there
  nonce integer,
  extras blob,
  primary key (epoch, address)
) strict, without rowid;

create table records_before (
  -- The same of every other record.
  epoch integer not null,
  kind integer not null,
  key blob not null,
  value blob, -- null of a record that was not there
  primary key (epoch, kind, key)
) strict, without rowid;

create table joins (
  -- The fast sync that is under way, if any.
  epoch integer not null primary key, -- whose close it goes to
  target blob not null                -- the encoded closing checkpoint with its signatures
) strict;

create table join_subtrees (
  -- The pieces of its state that have come, checked, in the order of their coming.
  id integer primary key,
  epoch integer not null references joins (epoch) on delete cascade,
  bytes blob not null
) strict;
`

const fourth = `
create index checkpoints_by_hash on checkpoints (hash);
`

/**
 * A transaction's bytes are stored once: with its vertex until a commit executes it, then in the order of execution.
 * Rows of earlier versions keep their form, because rewriting millions takes long.
 */
const fifth = `
alter table transactions rename to earlier_transactions;

create table transaction_packs (
  -- Executed and recorded transactions in the order of execution, several of one vertex to a row. Kept until an explicit prune.
  last_sequence integer primary key autoincrement, -- of the last one; never used again: the cursor of account histories
  transactions integer not null, -- how many
  vertex_id integer not null,    -- in transaction_vertices
  first_position integer not null, -- of the first one, in that vertex; the others are its neighbours there
  bytes blob not null            -- one after the other, each as it stood in the vertex
) strict;

insert into sqlite_sequence (name, seq)
  select 'transaction_packs', seq from sqlite_sequence where name = 'earlier_transactions';

create table transaction_keys (
  -- Finds a transaction by its hash. Others may have the same key, so the transaction that is found has to be compared.
  key integer not null,      -- the first 48 bits of the hash
  sequence integer not null, -- in transaction_packs
  primary key (key, sequence)
) strict, without rowid;

create table transaction_outcomes (
  -- What came of the transactions in packs that failed or made a proposal. All others were applied, and that is all.
  sequence integer not null primary key,
  failure text,        -- error code; null when it was applied
  failure_reason text, -- in words; null when it was applied
  proposal_id integer  -- the proposal it made
) strict;

create table vertex_transactions (
  -- The transactions of a vertex, until a commit has recorded all of them: then they are in transaction_packs.
  vertex_id integer not null primary key references vertices (id) on delete cascade,
  bytes blob not null -- one after the other
) strict;

-- Where the transactions belong in a vertex whose bytes are stored without them; null when the bytes are all of it.
alter table vertex_bytes add column transactions_at integer;

-- How many bytes they are.
alter table vertex_bytes add column transactions_size integer;

-- Of the transactions of a vertex, when all of them are in transaction_packs.
alter table vertices add column first_sequence integer;

alter table vertices add column last_sequence integer;
`

const sixth = `
create table account_postings (
  -- What was added to balances other than by transfers: with the transactions it adds up to the balance. Kept as long as they.
  address blob not null,
  until integer not null,  -- its commit; of rewards and fees the last of the 10,000 commits that are added up in one row
  kind integer not null,   -- 0 genesis, 1 reward, 2 fees, 3 council, 4 treasury_payment, 5 bond_returned, 6 stake_released,
                           -- 7 delegation_released, 8 stake_slashed, 9 delegations_slashed; the last two change no balance
  number integer not null, -- 0 when several commits are added up, else its place among those of the commit
  amount integer not null, -- sats
  proposal_id integer,     -- the proposal that returned a bond or paid
  since integer not null,  -- time of the first commit in it, milliseconds since 1970
  time integer not null,   -- time of the last one
  round integer not null,  -- its leader's
  primary key (address, until, kind, number)
) strict, without rowid;

create index account_postings_by_commit on account_postings (until);

-- What the transaction took from its sender in all, when that is not the fee and the amount that were signed; null also of
-- transactions that were recorded before version 6.
alter table transaction_outcomes add column charged integer;
`

/**
 * Hashes are random, so with an index over all of them each vertex writes its own page. An index by block writes only
 * the few pages of the newest block. The table is copied, because SQLite cannot drop an index that belongs to a
 * constraint. Its rows are small, so this takes less time than the copy of the database before a migration.
 */
const seventh = `
create table next_vertices (
  -- The vertices of the local DAG, ordered or not, until they are pruned. Their bytes lie apart, so that marking one as
  -- ordered does not write them again.
  id integer primary key,        -- rises in the order in which the vertices entered the DAG
  hash blob not null,
  epoch integer not null,
  round integer not null,
  author blob not null,
  timestamp integer not null,    -- milliseconds since 1970, as its author says
  commit_index integer,          -- which commit ordered it; null while none has
  position integer,              -- from 0, in that commit's order
  first_sequence integer,        -- of its transactions, when all of them are in transaction_packs
  last_sequence integer,
  block integer not null         -- the id of the first vertex of its block, from 512 vertices on; 0 for those before version 7
) strict;

insert into next_vertices
  (id, hash, epoch, round, author, timestamp, commit_index, position, first_sequence, last_sequence, block)
  select id, hash, epoch, round, author, timestamp, commit_index, position, first_sequence, last_sequence, 0
    from vertices order by id;

drop table vertices;

alter table next_vertices rename to vertices;

create index vertices_by_hash on vertices (block, hash);

create index vertices_by_epoch on vertices (epoch, id, round);

create index vertices_by_round on vertices (round, author);

create unique index vertices_by_commit on vertices (commit_index, position) where commit_index is not null;
`

export const migrations: ReadonlyArray<Migration> = [
  { version: 1, statements: first },
  { version: 2, statements: second },
  { version: 3, statements: third },
  { version: 4, statements: fourth },
  { version: 5, statements: fifth },
  { version: 6, statements: sixth },
  { version: 7, statements: seventh },
]
