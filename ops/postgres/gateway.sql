-- The role of gateways: it reads what an archive writes, and nothing else. Run this as the user that the archive writes as, in its
-- database, before or after the archive has made its tables:
--
--   psql -f ops/postgres/gateway.sql postgres://udg@localhost/udg
create role gateway login;
alter role gateway set default_transaction_read_only = on;
grant usage on schema public to gateway;
grant select on all tables in schema public to gateway;
-- Tables that later versions add.
alter default privileges in schema public grant select on tables to gateway;
