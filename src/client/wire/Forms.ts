/** Written by scripts/client.ts from the definition of the HTTP interface: `npm run client`. */
import type { Endpoint, Form } from "../../effect3/http/Outline.js"

type Named<A> = Readonly<Record<string, A>>

const f0: Form = {kind:"integer",min:0,max:9007199254740991,expected:"an integer from 0 to 2^53 - 1"}
const f1: Form = {kind:"integer",min:0,max:2100000000000000,expected:"an integer number of sats from 0 to 2100000000000000"}
const f2: Form = {kind:"number"}
const f3: Form = {kind:"string"}
const f4: Form = {kind:"text",min:1,max:100,expected:"an account (40 hex characters, tudg1… or udg1…, or @name)"}
const f5: Form = {kind:"record",fields:{address:f4}}
const f6: Form = {kind:"hex",bytes:20,expected:"an account address: 40 hex characters"}
const f7: Form = {kind:"boolean"}
const f8: Form = {kind:"literal",values:[null]}
const f9: Form = {kind:"union",of:[f3,f8]}
const f10: Form = {kind:"hex",bytes:32,expected:"an Ed25519 public key: 64 hex characters"}
const f11: Form = {kind:"list",of:f6}
const f12: Form = {kind:"hex",bytes:32,expected:"a hash: 64 hex characters"}
const f13: Form = {kind:"list",of:f12}
const f14: Form = {kind:"literal",values:["healthy","degraded","warning","unhealthy"]}
const f15: Form = {kind:"union",of:[f2,f8]}
const f16: Form = {kind:"list",of:f3}
const f17: Form = {kind:"integer",min:0,max:253402300799999,expected:"an integer from 0 to 253402300799999"}
const f18: Form = {kind:"secret"}
const f19: Form = {kind:"literal",values:["Transfer","StakeTx","UnstakeTx","DelegateTx","UndelegateTx","SetCommissionTx","CreateProposalTx","VoteTx","RegisterNameTx","SetAccountPolicyTx"]}
const f20: Form = {kind:"pattern",pattern:"^[a-z0-9-]{1,32}$",expected:"1 to 32 characters of a-z, 0-9 and -"}
const f21: Form = {kind:"integer",min:1,max:100000000,expected:"an integer from 1 to 100000000"}
const f22: Form = {kind:"integer",min:1,max:100000000000,expected:"an integer from 1 to 100000000000"}
const f23: Form = {kind:"integer",min:1,max:200000000000,expected:"an integer from 1 to 200000000000"}
const f24: Form = {kind:"integer",min:1,max:100000000000000,expected:"an integer from 1 to 100000000000000"}
const f25: Form = {kind:"integer",min:1,max:10000000,expected:"an integer from 1 to 10000000"}
const f26: Form = {kind:"integer",min:10,max:10000000,expected:"an integer from 10 to 10000000"}
const f27: Form = {kind:"integer",min:0,max:10000000,expected:"an integer from 0 to 10000000"}
const f28: Form = {kind:"integer",min:1,max:100,expected:"an integer from 1 to 100"}
const f29: Form = {kind:"integer",min:51,max:100,expected:"an integer from 51 to 100"}
const f30: Form = {kind:"integer",min:0,max:50,expected:"an integer from 0 to 50"}
const f31: Form = {kind:"integer",min:0,max:30,expected:"an integer from 0 to 30"}
const f32: Form = {kind:"integer",min:10,max:100,expected:"an integer from 10 to 100"}
const f33: Form = {kind:"integer",min:10,max:10000,expected:"an integer from 10 to 10000"}
const f34: Form = {kind:"integer",min:1,max:1000000000000,expected:"an integer from 1 to 1000000000000"}
const f35: Form = {kind:"integer",min:0,max:100000000000,expected:"an integer from 0 to 100000000000"}
const f36: Form = {kind:"integer",min:0,max:100,expected:"an integer from 0 to 100"}
const f37: Form = {kind:"union",of:[f1,f8]}
const f38: Form = {kind:"text",min:0,max:256,expected:"valid Unicode text of 0 to 256 bytes in UTF-8"}
const f39: Form = {kind:"literal",values:["accepted"]}
const f40: Form = {kind:"record",fields:{tx_hash:f12,status:f39,nonce:f0}}
const f41: Form = {kind:"hex",bytes:64,expected:"an Ed25519 signature: 128 hex characters"}
const f42: Form = {kind:"list",of:{kind:"record",fields:{pub_key:f10,signature:f41}},min:1,max:16}
const f43: Form = {kind:"record",fields:{type:{kind:"literal",values:["Transfer"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,to:f3,amount:f1,memo:f38,fee:f1},optional:["pub_key","signature","signatures","memo"]}
const f44: Form = {kind:"record",fields:{type:{kind:"literal",values:["StakeTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,amount:f1,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f45: Form = {kind:"record",fields:{type:{kind:"literal",values:["UnstakeTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f46: Form = {kind:"record",fields:{type:{kind:"literal",values:["DelegateTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,validator:f3,amount:f1,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f47: Form = {kind:"record",fields:{type:{kind:"literal",values:["UndelegateTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f48: Form = {kind:"record",fields:{type:{kind:"literal",values:["SetCommissionTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,commission_percent:f36,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f49: Form = {kind:"text",min:1,max:128,expected:"valid Unicode text of 1 to 128 bytes in UTF-8"}
const f50: Form = {kind:"text",min:0,max:4096,expected:"valid Unicode text of 0 to 4096 bytes in UTF-8"}
const f51: Form = {kind:"literal",values:["add","remove"]}
const f52: Form = {kind:"union",of:[{kind:"record",fields:{Text:{kind:"nothing",expected:"an empty object"}}},{kind:"record",fields:{ParameterChange:{kind:"record",fields:{param:{kind:"text",min:1,max:64,expected:"valid Unicode text of 1 to 64 bytes in UTF-8"},value:f0}}}},{kind:"record",fields:{CouncilMembership:{kind:"record",fields:{action:f51,address:f3}}}},{kind:"record",fields:{TreasurySpend:{kind:"record",fields:{recipient:f3,amount:f1}}}}]}
const f53: Form = {kind:"record",fields:{type:{kind:"literal",values:["CreateProposalTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,title:f49,description:f50,proposal_type:f52,fee:f1},optional:["pub_key","signature","signatures"]}
const f54: Form = {kind:"record",fields:{type:{kind:"literal",values:["VoteTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,proposal_id:f0,vote:f7,fee:f1},optional:["pub_key","signature","signatures"]}
const f55: Form = {kind:"record",fields:{type:{kind:"literal",values:["RegisterNameTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,name:{kind:"pattern",pattern:"^[a-z0-9][a-z0-9-]{1,18}[a-z0-9]$",expected:"3 to 20 characters of a-z, 0-9 and -, no - at either end"},fee:f1},optional:["pub_key","signature","signatures"]}
const f56: Form = {kind:"record",fields:{type:{kind:"literal",values:["SetAccountPolicyTx"]},from:f3,nonce:f0,pub_key:f10,signature:f41,signatures:f42,threshold:{kind:"integer",min:1,max:16,expected:"an integer from 1 to 16"},keys:{kind:"list",of:f10,min:1,max:16},fee:f1},optional:["pub_key","signature","signatures"]}
const f57: Form = {kind:"union",of:[f43,f44,f45,f46,f47,f48,f53,f54,f55,f56]}
const f58: Form = {kind:"record",fields:{hash:f12}}
const f59: Form = {kind:"literal",values:["pending","finalized"]}
const f60: Form = {kind:"union",of:[f0,f8]}
const f61: Form = {kind:"union",of:[f12,f8]}
const f62: Form = {kind:"union",of:[f6,f8]}
const f63: Form = {kind:"union",of:[f7,f8]}
const f64: Form = {kind:"union",of:[f17,f8]}
const f65: Form = {kind:"record",fields:{hash:f12,status:f59,round:f60,vertex_hash:f61,validator:f62,applied:f63,failure:f9,proposal_id:f60,timestamp:f64,transaction:f57}}
const f66: Form = {kind:"text",min:0,max:100,expected:"a next_cursor from the previous page"}
const f67: Form = {kind:"record",fields:{limit:f28,cursor:f66},optional:["limit","cursor"]}
const f68: Form = {kind:"record",fields:{secret_key:f18}}
const f69: Form = {kind:"literal",values:["Text","ParameterChange","CouncilMembership","TreasurySpend"]}
const f70: Form = {kind:"union",of:[{kind:"record",fields:{param:f3,value:f0}},{kind:"record",fields:{action:f51,address:f6}},{kind:"record",fields:{recipient:f6,amount:f1}},{kind:"record",fields:{}}]}
const f71: Form = {kind:"literal",values:["Active","Passed","Rejected","Executed","Failed"]}
const f72: Form = {kind:"literal",values:["held","returned","forfeited"]}
const f73: Form = {kind:"record",fields:{round:f0}}
const f74: Form = {kind:"list",of:f0}
const f75: Form = {kind:"record",fields:{epoch:f0,round:f0,commit_index:f0,commit_hash:f12,effects_digest:f12,state_root:f12,total_supply:f1,next_epoch:{kind:"union",of:[{kind:"record",fields:{epoch:f0,first_round:f0,seed:f12,rules:{kind:"record",fields:{epoch_rounds:f0,collection_depth_rounds:f0,checkpoint_interval_rounds:f0,round_reward:f1,halving_rounds:f0,treasury_percent:f36,council_percent:f36}},members:{kind:"list",of:{kind:"record",fields:{address:f6,pub_key:f10,weight:f1}}}}},f8]},previous:f12,hash:f12,signatures:{kind:"list",of:{kind:"record",fields:{validator:f6,signature:f41}}}}}
const f76: Form = {kind:"bytes"}
const f77: Form = {kind:"literal",values:["hour","day","year"]}
const f78: Form = {kind:"list",of:f17}
const f79: Form = {kind:"list",of:f1}
const f80: Form = {kind:"record",fields:{range:f77},optional:["range"]}

/** By group and name. */
export const endpoints: Named<Named<Endpoint>> = {
  core: {
    status: {method:"GET",path:"/status",answer:{kind:"record",fields:{dag_round:f0,last_finalized_round:f0,peers:f0,total_supply:f1,total_supply_coin:f2,total_staked:f1,active_stakers:f0,mempool_size:f0,dag_vertices:f0,versions:{kind:"record",fields:{program:f3,protocol:f0,wire:f0,database:f0}}},optional:["versions"]}},
    balance: {method:"GET",path:"/balance/:address",params:f5,answer:{kind:"record",fields:{address:f6,address_bech32:f3,balance:f1,balance_coin:f2,nonce:f0,staked:f1,staked_coin:f2,is_council_member:f7,is_smart_account:f7,next_nonce:f0,name:f9,exists:f7}}},
    policy: {method:"GET",path:"/account/:address/policy",params:f5,answer:{kind:"record",fields:{address:f6,threshold:f0,keys:{kind:"list",of:f10}}}},
    names: {method:"GET",path:"/names",query:{kind:"record",fields:{addresses:{kind:"pattern",pattern:"^[0-9a-f]{40}(?:,[0-9a-f]{40}){0,99}$",expected:"1 to 100 addresses of 40 lower-case hex characters, with commas between them,"}}},answer:{kind:"record",fields:{names:{kind:"list",of:{kind:"record",fields:{address:f6,name:f3}}}}}},
    search: {method:"GET",path:"/search",query:{kind:"record",fields:{prefix:{kind:"pattern",pattern:"^[0-9a-f]{4,64}$",expected:"4 to 64 lower-case hex digits"}}},answer:{kind:"record",fields:{accounts:f11,transactions:f13,vertices:f13}}},
    health: {method:"GET",path:"/health",answer:{kind:"record",fields:{status:{kind:"literal",values:["ok"]}}}},
    healthReport: {method:"GET",path:"/health/detailed",answer:{kind:"record",fields:{status:f14,components:{kind:"record",fields:{dag:{kind:"record",fields:{status:f14,round:f0,vertices:f0}},finality:{kind:"record",fields:{status:f14,finalized_round:f0,lag:f0}},state:{kind:"record",fields:{status:f14,accounts:f0,total_supply:f1,supply:f1}},mempool:{kind:"record",fields:{status:f14,size:f0,capacity:f0}},network:{kind:"record",fields:{status:f14,peers:f0}},checkpoints:{kind:"record",fields:{status:f14,latest_round:f0}},sync:{kind:"record",fields:{status:f14,epoch:f0,records:f0,percent:f0,records_per_second:f0,eta_seconds:f15}},catch_up:{kind:"record",fields:{status:f14,epoch:f0,round:f0,reached_round:f0,percent:f0,rounds_per_second:f0,eta_seconds:f15}},recovery:{kind:"record",fields:{status:f14,following:{kind:"literal",values:["InStep","Behind","EpochOver","Closing","Standstill","Joining"]},signing:{kind:"literal",values:["NoSeat","Asking","Silent","Forgotten","Signing"]},waits_for:f16,signs_in_seconds:f15,needs_operator:f7}},clock:{kind:"record",fields:{status:f14,ahead_ms:f2}}},optional:["sync","catch_up","recovery","clock"]},problems:{kind:"list",of:{kind:"record",fields:{component:f3,status:f14,reason:f3,since:f17,page:f3}}}}}},
    keygen: {method:"GET",path:"/keygen",answer:{kind:"record",fields:{address:f6,address_bech32:f3,secret_key:f18,warning:f3}}},
    faucet: {method:"POST",path:"/faucet",body:{kind:"record",fields:{address:f4,amount:f1}},answer:{kind:"record",fields:{tx_hash:f12,amount:f1,amount_coin:f2,message:f3}}},
    mempool: {method:"GET",path:"/mempool",answer:{kind:"list",of:{kind:"record",fields:{hash:f12,type:f19,from:f6,to:f6,amount:f1,fee:f1,nonce:f0,received_at:f17},optional:["to","amount"]}}},
    peers: {method:"GET",path:"/peers",answer:{kind:"record",fields:{connected:f0,peers:{kind:"list",of:{kind:"record",fields:{id:f3,address:f3,direction:{kind:"literal",values:["inbound","outbound"]},agent:f3,latency_ms:f15,connected_since:f17}}},bootstrap_nodes:{kind:"list",of:{kind:"record",fields:{address:f3,connected:f7}}}}}},
    network: {method:"GET",path:"/network",answer:{kind:"record",fields:{network_id:f20,genesis_hash:f12,mode:{kind:"literal",values:["testnet","mainnet"]},address_prefix:{kind:"literal",values:["tudg","udg"]},version:f3,has_archive:f7,parameters:{kind:"record",fields:{min_fee_sats:f21,name_fee_sats:f22,min_delegation_sats:f23,min_stake_to_propose_sats:f24,cooldown_rounds:f25,voting_period_rounds:f26,execution_delay_rounds:f27,quorum_percent:f28,approval_percent:f29,max_active_proposals:f28,treasury_percent:f30,council_percent:f31,slash_percent:f32,checkpoint_interval_rounds:f33,proposal_bond_sats:f34,max_active_per_proposer:f28,account_fee_sats:f35,round_interval_ms:f0,epoch_rounds:f0,collection_depth_rounds:f0,round_reward:f1,halving_rounds:f0,default_commission_percent:f36,min_stake_sats:f1,faucet_max_sats:f37}}}}},
  },
  transactions: {
    send: {method:"POST",path:"/tx",body:{kind:"record",fields:{secret_key:f18,to:f4,amount:f1,fee:f1,memo:f38},optional:["memo"]},answer:f40},
    submit: {method:"POST",path:"/tx/submit",body:{kind:"union",of:[f43,f44,f45,f46,f47,f48,f53,f54,f55,f56,{kind:"list",of:f57,min:1,max:1000}]},answer:{kind:"union",of:[f40,{kind:"list",of:{kind:"union",of:[{kind:"record",fields:{status_code:{kind:"literal",values:[200]},tx_hash:f12,status:f39,nonce:f0}},{kind:"record",fields:{status_code:{kind:"integer",min:400,max:599,expected:"an integer from 400 to 599"},code:f3,error:f3},isOpen:true}]}}]}},
    lookup: {method:"GET",path:"/tx/:hash",params:f58,answer:f65},
    history: {method:"GET",path:"/account/:address/transactions",params:f5,query:{kind:"record",fields:{limit:f28,type:f19,cursor:f66},optional:["limit","type","cursor"]},answer:{kind:"record",fields:{transactions:{kind:"list",of:{kind:"record",fields:{hash:f12,direction:{kind:"literal",values:["sent","received"]},status:f59,round:f60,vertex_hash:f61,validator:f62,applied:f63,failure:f9,proposal_id:f60,timestamp:f64,transaction:f57}}},next_cursor:f9}}},
    statement: {method:"GET",path:"/account/:address/statement",params:f5,query:f67,answer:{kind:"record",fields:{address:f6,balance:f1,entries:{kind:"list",of:{kind:"record",fields:{kind:{kind:"literal",values:["sent","received","genesis","reward","fees","council","treasury_payment","bond_returned","stake_released","delegation_released","stake_slashed","delegations_slashed"]},change:{kind:"integer",min:-2100000000000000,max:2100000000000000,expected:"an integer from -2100000000000000 to 2100000000000000"},amount:f1,fee:f37,type:{kind:"literal",values:["Transfer","StakeTx","UnstakeTx","DelegateTx","UndelegateTx","SetCommissionTx","CreateProposalTx","VoteTx","RegisterNameTx","SetAccountPolicyTx",null]},hash:f61,counterparty:f62,applied:f63,proposal_id:f60,round:f0,since:f17,timestamp:f17}}},next_cursor:f9}}},
    latest: {method:"GET",path:"/transactions",query:{kind:"record",fields:{limit:f28,type:f19,words:{kind:"text",min:0,max:200,expected:"at most 200 characters"},from:f0,until:f0,cursor:f66},optional:["limit","type","words","from","until","cursor"]},answer:{kind:"record",fields:{transactions:{kind:"list",of:f65},next_cursor:f9}}},
  },
  archive: {
    balances: {method:"GET",path:"/account/:address/balances",params:f5,query:{kind:"record",fields:{limit:f28,commit:f0,step:{kind:"integer",min:1,max:9007199254740991,expected:"an integer from 1 to 2^53 - 1"}},optional:["limit","commit","step"]},answer:{kind:"record",fields:{address:f6,balances:{kind:"list",of:{kind:"record",fields:{commit:f0,timestamp:f17,balance:f1,nonce:f0}}},next_commit:f60}}},
    richest: {method:"GET",path:"/accounts",query:f67,answer:{kind:"record",fields:{accounts:{kind:"list",of:{kind:"record",fields:{address:f6,name:f9,balance:f1}}},next_cursor:f9}}},
    statistics: {method:"GET",path:"/statistics",query:{kind:"record",fields:{limit:{kind:"integer",min:1,max:500,expected:"an integer from 1 to 500"},interval:{kind:"literal",values:["hour","day"]},until:f0},optional:["limit","interval","until"]},answer:{kind:"record",fields:{statistics:{kind:"list",of:{kind:"record",fields:{timestamp:f17,commits:f0,vertices:f0,transactions:f0,failed:f0,fees:f0,total_supply:f1}}}}}},
  },
  staking: {
    stake: {method:"POST",path:"/stake",body:{kind:"record",fields:{secret_key:f18,amount:f1}},answer:f40},
    unstake: {method:"POST",path:"/unstake",body:f68,answer:f40},
    stakeOf: {method:"GET",path:"/stake/:address",params:f5,answer:{kind:"record",fields:{address:f6,staked_amount:f1,staked_coin:f2,commission_percent:f36,effective_stake:f1,delegator_count:f0,is_active_validator:f7,unstaking:f7,unlock_at_round:f60,in_committee:f7}}},
    validators: {method:"GET",path:"/validators",answer:{kind:"record",fields:{validators:{kind:"list",of:{kind:"record",fields:{address:f6,effective_stake:f1,commission_percent:f36,delegator_count:f0,is_active:f7,in_committee:f7}}},total_staked:f1,active_count:f0,max_validators:f0}}},
  },
  delegation: {
    delegate: {method:"POST",path:"/delegate",body:{kind:"record",fields:{secret_key:f18,validator:f4,amount:f1}},answer:f40},
    undelegate: {method:"POST",path:"/undelegate",body:f68,answer:f40},
    setCommission: {method:"POST",path:"/set-commission",body:{kind:"record",fields:{secret_key:f18,commission_percent:f36}},answer:f40},
    delegationOf: {method:"GET",path:"/delegation/:address",params:f5,answer:{kind:"record",fields:{delegator:f6,validator:f6,amount:f1,amount_coin:f2,undelegating:f7,unlock_at_round:f60}}},
    delegators: {method:"GET",path:"/validator/:address/delegators",params:f5,answer:{kind:"record",fields:{validator:f6,delegator_count:f0,total_delegated:f1,delegators:{kind:"list",of:{kind:"record",fields:{address:f6,amount:f1,amount_coin:f2,undelegating:f7}}}}}},
  },
  governance: {
    propose: {method:"POST",path:"/proposal",body:{kind:"record",fields:{secret_key:f18,title:f49,description:f50,proposal_type:f52,fee:f1}},answer:f40},
    vote: {method:"POST",path:"/vote",body:{kind:"record",fields:{secret_key:f18,proposal_id:f0,vote:f7,fee:f1}},answer:f40},
    proposals: {method:"GET",path:"/proposals",answer:{kind:"record",fields:{count:f0,proposals:{kind:"list",of:{kind:"record",fields:{id:f0,title:f3,description:f3,texts_pruned:f7,tx_hash:f12,proposal_type:f69,payload:f70,status:f71,proposer:f6,votes_for:f1,votes_against:f1,snapshot_total_stake:f1,created_at_round:f0,voting_ends_at_round:f0,executes_at_round:f0,failure:f9,bond:f1,bond_status:f72}}}}}},
    proposal: {method:"GET",path:"/proposal/:id",params:{kind:"record",fields:{id:f0}},answer:{kind:"record",fields:{id:f0,title:f3,description:f3,texts_pruned:f7,tx_hash:f12,proposal_type:f69,payload:f70,status:f71,proposer:f6,votes_for:f1,votes_against:f1,snapshot_total_stake:f1,created_at_round:f0,voting_ends_at_round:f0,executes_at_round:f0,failure:f9,bond:f1,bond_status:f72,voters:{kind:"list",of:{kind:"record",fields:{address:f6,vote:{kind:"literal",values:["yes","no"]},weight:f1}}}}}},
    voteOf: {method:"GET",path:"/vote/:id/:address",params:{kind:"record",fields:{id:f0,address:f4}},answer:{kind:"record",fields:{proposal_id:f0,address:f6,vote:{kind:"literal",values:["yes","no",null]},weight:f1}}},
    config: {method:"GET",path:"/governance/config",answer:{kind:"record",fields:{min_fee_sats:f21,name_fee_sats:f22,min_delegation_sats:f23,min_stake_to_propose_sats:f24,cooldown_rounds:f25,voting_period_rounds:f26,execution_delay_rounds:f27,quorum_percent:f28,approval_percent:f29,max_active_proposals:f28,treasury_percent:f30,council_percent:f31,slash_percent:f32,checkpoint_interval_rounds:f33,proposal_bond_sats:f34,max_active_per_proposer:f28,account_fee_sats:f35,governable_params:{kind:"list",of:{kind:"record",fields:{name:f3,value:f0,min:f0,max:f0}}}}}},
  },
  dag: {
    round: {method:"GET",path:"/round/:round",params:f73,answer:{kind:"record",fields:{round:f0,timestamp:f64,finalized:f7,vertices:{kind:"list",of:{kind:"record",fields:{hash:f12,validator:f6,reward:f1,tx_count:f0,parent_count:f0}}}}}},
    vertex: {method:"GET",path:"/vertex/:hash",params:f58,answer:{kind:"record",fields:{hash:f12,round:f0,validator:f6,parent_count:f0,parents:f13,coinbase_reward:f1,timestamp:f17,finalized:f7,transactions:{kind:"list",of:{kind:"record",fields:{type:f19,hash:f12,fee:f1,outcome:{kind:"literal",values:["applied","failed","no effect",null]}}}}}}},
    columns: {method:"GET",path:"/dag",query:{kind:"record",fields:{from:f0,rounds:{kind:"integer",min:1,max:120,expected:"an integer from 1 to 120"}},optional:["from","rounds"]},answer:{kind:"record",fields:{dag_round:f0,finalized_round:f0,validators:f11,columns:{kind:"list",of:{kind:"record",fields:{round:f0,epoch:f0,timestamp:f64,finalized:f7,leader:{kind:"union",of:[{kind:"record",fields:{validator:f0,verdict:{kind:"literal",values:["undecided","committed","skipped"]}}},f8]},vertices:{kind:"list",of:{kind:"record",fields:{hash:f12,validator:f0,tx_count:f0,commit_index:f60,parents:f74,older_parents:{kind:"list",of:{kind:"record",fields:{round:f0,validator:f0}}}}}}}}}}}},
  },
  checkpoints: {
    latest: {method:"GET",path:"/checkpoint/latest",answer:f75},
    checkpoint: {method:"GET",path:"/checkpoint/:round",params:f73,answer:f75},
    byHash: {method:"GET",path:"/checkpoint/hash/:hash",params:f58,answer:f75},
    closing: {method:"GET",path:"/checkpoint/epoch/:epoch",params:{kind:"record",fields:{epoch:f0}},answer:f75},
    transactionProof: {method:"GET",path:"/proof/tx/:hash",params:f58,answer:{kind:"record",fields:{hash:f12,network_id:f20,vertex:f76,headers:{kind:"list",of:f76,max:64},previous:f12,commits:{kind:"list",of:{kind:"record",fields:{index:f0,epoch:f0,leader_round:f0,leader_hash:f12}},min:1,max:10001},checkpoint:f75}}},
    proof: {method:"GET",path:"/proof/:address",params:f5,answer:{kind:"record",fields:{address:f6,key:f12,record:f9,proof:{kind:"record",fields:{siblings:{kind:"list",of:{kind:"record",fields:{hash:f12,records:f0}},max:251},leaf:{kind:"list",of:{kind:"record",fields:{key:f12,value:f76}},max:32}}},checkpoint:f75}}},
  },
  monitoring: {
    metrics: {method:"GET",path:"/metrics"},
    metricsJson: {method:"GET",path:"/metrics/json",answer:{kind:"record",fields:{dag_round:f0,finalized_round:f0,finality_lag:f0,peer_count:f0,mempool_size:f0,total_supply:f1,total_staked:f1,active_validators:f0,checkpoint_latest:f0,uptime_seconds:f0}}},
    history: {method:"GET",path:"/metrics/history",query:{kind:"record",fields:{range:f77,since:f0},optional:["range","since"]},answer:{kind:"record",fields:{range:f77,step_ms:f0,at:f78,measured_ms:f74,transactions:f74,rounds:f74,fees:f79,finality_ms:{kind:"list",of:f60},total_supply:f79,total_staked:f79,mempool_size:f74}}},
    attendance: {method:"GET",path:"/metrics/validators",query:f80,answer:{kind:"record",fields:{range:f77,since:f64,validators:{kind:"list",of:{kind:"record",fields:{address:f6,made:f0,missed:f0}}}}}},
    validatorRounds: {method:"GET",path:"/validator/:address/rounds",params:f5,query:f80,answer:{kind:"record",fields:{validator:f6,range:f77,step_ms:f0,at:f78,made:f74,missed:f74}}},
  },
  documents: {
    openapi: {method:"GET",path:"/openapi.json"},
    reference: {method:"GET",path:"/docs"},
  },
}

/** By the code on the wire. */
export const failures: Named<Form> = {
  InvalidRequest: {kind:"record",fields:{code:{kind:"literal",values:["InvalidRequest"]},error:f3,field:f3},optional:["field"]},
  RequestTimeout: {kind:"record",fields:{code:{kind:"literal",values:["RequestTimeout"]},error:f3}},
  BodyTooLarge: {kind:"record",fields:{code:{kind:"literal",values:["BodyTooLarge"]},error:f3,limit:f2}},
  UnsupportedMediaType: {kind:"record",fields:{code:{kind:"literal",values:["UnsupportedMediaType"]},error:f3}},
  Overloaded: {kind:"record",fields:{code:{kind:"literal",values:["Overloaded"]},error:f3,retry_after_seconds:f2}},
  NotAllowed: {kind:"record",fields:{code:{kind:"literal",values:["NotAllowed"]},error:f3}},
  NameNotFound: {kind:"record",fields:{code:{kind:"literal",values:["NameNotFound"]},error:f3}},
  TestnetOnly: {kind:"record",fields:{code:{kind:"literal",values:["TestnetOnly"]},error:f3}},
  ForeignOrigin: {kind:"record",fields:{code:{kind:"literal",values:["ForeignOrigin"]},error:f3}},
  NotServed: {kind:"record",fields:{code:{kind:"literal",values:["NotServed"]},error:f3}},
  InvalidTransaction: {kind:"record",fields:{code:{kind:"literal",values:["InvalidTransaction"]},error:f3,rule:f3,field:f3},optional:["field"]},
  InsufficientBalance: {kind:"record",fields:{code:{kind:"literal",values:["InsufficientBalance"]},error:f3,balance:f2,required:f2,pending:f2}},
  NonceTooHigh: {kind:"record",fields:{code:{kind:"literal",values:["NonceTooHigh"]},error:f3,next_nonce:f2,max_nonce:f2}},
  AccountThrottled: {kind:"record",fields:{code:{kind:"literal",values:["AccountThrottled"]},error:f3,next_nonce:f2,retry_after_seconds:f2}},
  MempoolFull: {kind:"record",fields:{code:{kind:"literal",values:["MempoolFull"]},error:f3,capacity:f2}},
  NotReady: {kind:"record",fields:{code:{kind:"literal",values:["NotReady"]},error:f3}},
  ForeignHost: {kind:"record",fields:{code:{kind:"literal",values:["ForeignHost"]},error:f3}},
  RateLimited: {kind:"record",fields:{code:{kind:"literal",values:["RateLimited"]},error:f3,limit:f2,window_seconds:f2,retry_after_seconds:f2}},
  HeadersTooLarge: {kind:"record",fields:{code:{kind:"literal",values:["HeadersTooLarge"]},error:f3}},
  InternalError: {kind:"record",fields:{code:{kind:"literal",values:["InternalError"]},error:f3}},
  Unavailable: {kind:"record",fields:{code:{kind:"literal",values:["Unavailable"]},error:f3,retry_after_seconds:f2}},
  ShuttingDown: {kind:"record",fields:{code:{kind:"literal",values:["ShuttingDown"]},error:f3}},
  TooManyStreams: {kind:"record",fields:{code:{kind:"literal",values:["TooManyStreams"]},error:f3,limit:f2,retry_after_seconds:f2}},
  PathNotFound: {kind:"record",fields:{code:{kind:"literal",values:["PathNotFound"]},error:f3}},
  MethodNotAllowed: {kind:"record",fields:{code:{kind:"literal",values:["MethodNotAllowed"]},error:f3,allowed:f16}},
  InvalidSignature: {kind:"record",fields:{code:{kind:"literal",values:["InvalidSignature"]},error:f3}},
  NonceTooLow: {kind:"record",fields:{code:{kind:"literal",values:["NonceTooLow"]},error:f3,next_nonce:f2}},
  NoncePending: {kind:"record",fields:{code:{kind:"literal",values:["NoncePending"]},error:f3,min_fee:f2}},
  AlreadyVoted: {kind:"record",fields:{code:{kind:"literal",values:["AlreadyVoted"]},error:f3}},
  NameTaken: {kind:"record",fields:{code:{kind:"literal",values:["NameTaken"]},error:f3}},
  TooManyActiveProposals: {kind:"record",fields:{code:{kind:"literal",values:["TooManyActiveProposals"]},error:f3,limit:f2}},
  TransactionNotFound: {kind:"record",fields:{code:{kind:"literal",values:["TransactionNotFound"]},error:f3,vertex_hash:f3,round:f2,reason:f3},optional:["vertex_hash","round","reason"]},
  DelegationNotFound: {kind:"record",fields:{code:{kind:"literal",values:["DelegationNotFound"]},error:f3}},
  PolicyNotFound: {kind:"record",fields:{code:{kind:"literal",values:["PolicyNotFound"]},error:f3}},
  ProposalNotFound: {kind:"record",fields:{code:{kind:"literal",values:["ProposalNotFound"]},error:f3}},
  RoundNotFound: {kind:"record",fields:{code:{kind:"literal",values:["RoundNotFound"]},error:f3,reason:{kind:"literal",values:["not_reached","pruned"]}}},
  VertexNotFound: {kind:"record",fields:{code:{kind:"literal",values:["VertexNotFound"]},error:f3}},
  CheckpointNotFound: {kind:"record",fields:{code:{kind:"literal",values:["CheckpointNotFound"]},error:f3}},
  FaucetUnavailable: {kind:"record",fields:{code:{kind:"literal",values:["FaucetUnavailable"]},error:f3}},
}

export const event: Form = {kind:"union",of:[{kind:"record",fields:{type:{kind:"literal",values:["round"]},round:f0,finalized_round:f0}},{kind:"record",fields:{type:{kind:"literal",values:["vertex"]},hash:f12,round:f0,validator:f6,reward:f1,tx_count:f0}},{kind:"record",fields:{type:{kind:"literal",values:["transaction"]},hash:f12,transaction_type:f19,from:f6,to:f6,status:f59,applied:f63},optional:["to"]},{kind:"record",fields:{type:{kind:"literal",values:["alert"]},severity:{kind:"literal",values:["info","warning","critical"]},message:f3}},{kind:"record",fields:{type:{kind:"literal",values:["reset"]},message:f3}}]}

export const transaction: Form = f57

/** The fees of a network with standard parameters. */
export const usualPrices = { min_fee_sats: 1000, name_fee_sats: 100000, account_fee_sats: 1100000 }
