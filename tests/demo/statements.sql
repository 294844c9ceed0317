create table entry(id integer primary key, account text, amount integer)
insert into entry(account, amount) values('rent', -900)
insert into entry(account, amount) values('salary', 2500)
insert into entry(account, amount) values('coffee', -4)
insert into entries(account, amount) values('misspelt', 0)
select account from entry order by amount
select sum(amount) from entry
insert into entry(account, amount) select account, amount - 1 from entry
insert into entry(amount) values('no account', 1)
select count(*) from entry
