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
const f11: Form = {kind:"list",of:{kind:"record",fields:{address:f6,name:f3}}}
const f12: Form = {kind:"list",of:f6}
const f13: Form = {kind:"hex",bytes:32,expected:"a hash: 64 hex characters"}
const f14: Form = {kind:"list",of:f13}
const f15: Form = {kind:"literal",values:["healthy","degraded","warning","unhealthy"]}
const f16: Form = {kind:"record",fields:{status:f15,finalized_round:f0,lag:f0}}
const f17: Form = {kind:"union",of:[f2,f8]}
const f18: Form = {kind:"list",of:f3}
const f19: Form = {kind:"integer",min:0,max:253402300799999,expected:"an integer from 0 to 253402300799999"}
const f20: Form = {kind:"secret"}
const f21: Form = {kind:"literal",values:["Transfer","StakeTx","UnstakeTx","DelegateTx","UndelegateTx","SetCommissionTx","CreateProposalTx","VoteTx","RegisterNameTx","SetAccountPolicyTx","RotateKeyTx"]}
const f22: Form = {kind:"pattern",pattern:"^[a-z0-9-]{1,32}$",expected:"1 to 32 characters of a-z, 0-9 and -"}
const f23: Form = {kind:"integer",min:1,max:100000000,expected:"an integer from 1 to 100000000"}
const f24: Form = {kind:"integer",min:1,max:100000000000,expected:"an integer from 1 to 100000000000"}
const f25: Form = {kind:"integer",min:1,max:200000000000,expected:"an integer from 1 to 200000000000"}
const f26: Form = {kind:"integer",min:1,max:100000000000000,expected:"an integer from 1 to 100000000000000"}
const f27: Form = {kind:"integer",min:1,max:10000000,expected:"an integer from 1 to 10000000"}
const f28: Form = {kind:"integer",min:10,max:10000000,expected:"an integer from 10 to 10000000"}
const f29: Form = {kind:"integer",min:0,max:10000000,expected:"an integer from 0 to 10000000"}
const f30: Form = {kind:"integer",min:1,max:100,expected:"an integer from 1 to 100"}
const f31: Form = {kind:"integer",min:51,max:100,expected:"an integer from 51 to 100"}
const f32: Form = {kind:"integer",min:0,max:50,expected:"an integer from 0 to 50"}
const f33: Form = {kind:"integer",min:0,max:30,expected:"an integer from 0 to 30"}
const f34: Form = {kind:"integer",min:10,max:100,expected:"an integer from 10 to 100"}
const f35: Form = {kind:"integer",min:10,max:10000,expected:"an integer from 10 to 10000"}
const f36: Form = {kind:"integer",min:1,max:1000000000000,expected:"an integer from 1 to 1000000000000"}
const f37: Form = {kind:"integer",min:0,max:100000000000,expected:"an integer from 0 to 100000000000"}
const f38: Form = {kind:"integer",min:0,max:100,expected:"an integer from 0 to 100"}
const f39: Form = {kind:"union",of:[f1,f8]}
const f40: Form = {kind:"text",min:0,max:256,expected:"valid Unicode text of 0 to 256 bytes in UTF-8"}
const f41: Form = {kind:"literal",values:["accepted"]}
const f42: Form = {kind:"record",fields:{tx_hash:f13,status:f41,nonce:f0}}
const f43: Form = {kind:"hex",bytes:64,expected:"an Ed25519 signature: 128 hex characters"}
const f44: Form = {kind:"list",of:{kind:"record",fields:{pub_key:f10,signature:f43}},min:1,max:16}
const f45: Form = {kind:"record",fields:{type:{kind:"literal",values:["Transfer"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,to:f3,amount:f1,memo:f40,fee:f1},optional:["pub_key","signature","signatures","memo"]}
const f46: Form = {kind:"record",fields:{type:{kind:"literal",values:["StakeTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,amount:f1,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f47: Form = {kind:"record",fields:{type:{kind:"literal",values:["UnstakeTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f48: Form = {kind:"record",fields:{type:{kind:"literal",values:["DelegateTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,validator:f3,amount:f1,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f49: Form = {kind:"record",fields:{type:{kind:"literal",values:["UndelegateTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f50: Form = {kind:"record",fields:{type:{kind:"literal",values:["SetCommissionTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,commission_percent:f38,fee:f1},optional:["pub_key","signature","signatures","fee"]}
const f51: Form = {kind:"text",min:1,max:128,expected:"valid Unicode text of 1 to 128 bytes in UTF-8"}
const f52: Form = {kind:"text",min:0,max:4096,expected:"valid Unicode text of 0 to 4096 bytes in UTF-8"}
const f53: Form = {kind:"literal",values:["add","remove"]}
const f54: Form = {kind:"union",of:[{kind:"record",fields:{Text:{kind:"nothing",expected:"an empty object"}}},{kind:"record",fields:{ParameterChange:{kind:"record",fields:{param:{kind:"text",min:1,max:64,expected:"valid Unicode text of 1 to 64 bytes in UTF-8"},value:f0}}}},{kind:"record",fields:{CouncilMembership:{kind:"record",fields:{action:f53,address:f3}}}},{kind:"record",fields:{TreasurySpend:{kind:"record",fields:{recipient:f3,amount:f1}}}}]}
const f55: Form = {kind:"record",fields:{type:{kind:"literal",values:["CreateProposalTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,title:f51,description:f52,proposal_type:f54,fee:f1},optional:["pub_key","signature","signatures"]}
const f56: Form = {kind:"record",fields:{type:{kind:"literal",values:["VoteTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,proposal_id:f0,vote:f7,fee:f1},optional:["pub_key","signature","signatures"]}
const f57: Form = {kind:"record",fields:{type:{kind:"literal",values:["RegisterNameTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,name:{kind:"pattern",pattern:"^[a-z0-9][a-z0-9-]{1,18}[a-z0-9]$",expected:"3 to 20 characters of a-z, 0-9 and -, no - at either end"},fee:f1},optional:["pub_key","signature","signatures"]}
const f58: Form = {kind:"record",fields:{type:{kind:"literal",values:["SetAccountPolicyTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,threshold:{kind:"integer",min:1,max:16,expected:"an integer from 1 to 16"},keys:{kind:"list",of:f10,min:1,max:16},fee:f1},optional:["pub_key","signature","signatures"]}
const f59: Form = {kind:"record",fields:{type:{kind:"literal",values:["RotateKeyTx"]},from:f3,nonce:f0,pub_key:f10,signature:f43,signatures:f44,validator_key:f10,proof:f43,fee:f1},optional:["pub_key","signature","signatures"]}
const f60: Form = {kind:"union",of:[f45,f46,f47,f48,f49,f50,f55,f56,f57,f58,f59]}
const f61: Form = {kind:"record",fields:{hash:f13}}
const f62: Form = {kind:"literal",values:["pending","finalized"]}
const f63: Form = {kind:"union",of:[f0,f8]}
const f64: Form = {kind:"union",of:[f13,f8]}
const f65: Form = {kind:"union",of:[f6,f8]}
const f66: Form = {kind:"union",of:[f7,f8]}
const f67: Form = {kind:"union",of:[f19,f8]}
const f68: Form = {kind:"record",fields:{hash:f13,status:f62,round:f63,vertex_hash:f64,validator:f65,applied:f66,failure:f9,proposal_id:f63,timestamp:f67,transaction:f60}}
const f69: Form = {kind:"literal",values:["sent","received"]}
const f70: Form = {kind:"text",min:0,max:100,expected:"a next_cursor from the previous page"}
const f71: Form = {kind:"record",fields:{limit:f30,cursor:f70},optional:["limit","cursor"]}
const f72: Form = {kind:"record",fields:{secret_key:f20}}
const f73: Form = {kind:"literal",values:["Text","ParameterChange","CouncilMembership","TreasurySpend"]}
const f74: Form = {kind:"union",of:[{kind:"record",fields:{param:f3,value:f0}},{kind:"record",fields:{action:f53,address:f6}},{kind:"record",fields:{recipient:f6,amount:f1}},{kind:"record",fields:{}}]}
const f75: Form = {kind:"literal",values:["Active","Passed","Rejected","Executed","Failed"]}
const f76: Form = {kind:"literal",values:["held","returned","forfeited"]}
const f77: Form = {kind:"record",fields:{round:f0}}
const f78: Form = {kind:"list",of:f0}
const f79: Form = {kind:"record",fields:{epoch:f0,round:f0,commit_index:f0,commit_hash:f13,effects_digest:f13,state_root:f13,total_supply:f1,next_epoch:{kind:"union",of:[{kind:"record",fields:{epoch:f0,first_round:f0,seed:f13,rules:{kind:"record",fields:{epoch_rounds:f0,protocol_version:f0,collection_depth_rounds:f0,checkpoint_interval_rounds:f0,round_reward:f1,halving_rounds:f0,treasury_percent:f38,council_percent:f38}},members:{kind:"list",of:{kind:"record",fields:{address:f6,pub_key:f10,weight:f1}}}}},f8]},previous:f13,hash:f13,signatures:{kind:"list",of:{kind:"record",fields:{validator:f6,signature:f43}}}}}
const f80: Form = {kind:"bytes"}
const f81: Form = {kind:"literal",values:["hour","day","year"]}
const f82: Form = {kind:"list",of:f19}
const f83: Form = {kind:"list",of:f1}
const f84: Form = {kind:"list",of:f63}
const f85: Form = {kind:"record",fields:{range:f81},optional:["range"]}

/** By group and name. */
export const endpoints: Named<Named<Endpoint>> = {
  core: {
    status: {method:"GET",path:"/status",answer:{kind:"record",fields:{dag_round:f0,last_finalized_round:f0,peers:f0,total_supply:f1,total_supply_coin:f2,total_staked:f1,active_stakers:f0,mempool_size:f0,dag_vertices:f0,versions:{kind:"record",fields:{program:f3,protocol:f0,wire:f0,database:f0}}},optional:["versions"]}},
    balance: {method:"GET",path:"/balance/:address",params:f5,answer:{kind:"record",fields:{address:f6,address_bech32:f3,balance:f1,balance_coin:f2,nonce:f0,staked:f1,staked_coin:f2,is_council_member:f7,is_smart_account:f7,next_nonce:f0,name:f9,exists:f7}}},
    policy: {method:"GET",path:"/account/:address/policy",params:f5,answer:{kind:"record",fields:{address:f6,threshold:f0,keys:{kind:"list",of:f10}}}},
    names: {method:"GET",path:"/names",query:{kind:"record",fields:{addresses:{kind:"pattern",pattern:"^[0-9a-f]{40}(?:,[0-9a-f]{40}){0,99}$",expected:"1 to 100 addresses of 40 lower-case hex characters, with commas between them"}}},answer:{kind:"record",fields:{names:f11}}},
    search: {method:"GET",path:"/search",query:{kind:"record",fields:{prefix:{kind:"pattern",pattern:"^@?[0-9a-z-]{3,64}$",expected:"3 to 64 characters of a name, of hex digits or of an address, in lower case"}}},answer:{kind:"record",fields:{names:f11,accounts:f12,transactions:f14,vertices:f14}}},
    health: {method:"GET",path:"/health",answer:{kind:"record",fields:{status:{kind:"literal",values:["ok"]}}}},
    ready: {method:"GET",path:"/ready",answer:{kind:"record",fields:{status:{kind:"literal",values:["ready"]}}}},
    healthReport: {method:"GET",path:"/health/detailed",answer:{kind:"record",fields:{status:f15,components:{kind:"record",fields:{dag:{kind:"record",fields:{status:f15,round:f0,vertices:f0}},finality:f16,state:{kind:"record",fields:{status:f15,accounts:f0,total_supply:f1,supply:f1}},mempool:{kind:"record",fields:{status:f15,size:f0,capacity:f0}},network:{kind:"record",fields:{status:f15,peers:f0}},checkpoints:{kind:"record",fields:{status:f15,latest_round:f0}},archive:f16,sync:{kind:"record",fields:{status:f15,epoch:f0,records:f0,percent:f0,records_per_second:f0,eta_seconds:f17}},catch_up:{kind:"record",fields:{status:f15,epoch:f0,round:f0,reached_round:f0,percent:f0,rounds_per_second:f0,eta_seconds:f17}},recovery:{kind:"record",fields:{status:f15,following:{kind:"literal",values:["InStep","Behind","EpochOver","Closing","Standstill","Joining"]},signing:{kind:"literal",values:["NoSeat","Asking","Silent","Forgotten","Signing"]},waits_for:f18,signs_in_seconds:f17,needs_operator:f7}},clock:{kind:"record",fields:{status:f15,ahead_ms:f2}}},optional:["archive","sync","catch_up","recovery","clock"]},problems:{kind:"list",of:{kind:"record",fields:{component:f3,status:f15,reason:f3,since:f19,page:f3}}}}}},
    keygen: {method:"GET",path:"/keygen",answer:{kind:"record",fields:{address:f6,address_bech32:f3,secret_key:f20,warning:f3}}},
    faucet: {method:"POST",path:"/faucet",body:{kind:"record",fields:{address:f4,amount:f1}},answer:{kind:"record",fields:{tx_hash:f13,amount:f1,amount_coin:f2,message:f3}}},
    mempool: {method:"GET",path:"/mempool",answer:{kind:"list",of:{kind:"record",fields:{hash:f13,type:f21,from:f6,to:f6,amount:f1,fee:f1,nonce:f0,received_at:f19},optional:["to","amount"]}}},
    peers: {method:"GET",path:"/peers",answer:{kind:"record",fields:{connected:f0,peers:{kind:"list",of:{kind:"record",fields:{id:f3,address:f3,direction:{kind:"literal",values:["inbound","outbound"]},agent:f3,latency_ms:f17,connected_since:f19}}},bootstrap_nodes:{kind:"list",of:{kind:"record",fields:{address:f3,connected:f7}}}}}},
    network: {method:"GET",path:"/network",answer:{kind:"record",fields:{network_id:f22,genesis_hash:f13,mode:{kind:"literal",values:["testnet","mainnet"]},address_prefix:{kind:"literal",values:["tudg","udg"]},version:f3,has_archive:f7,parameters:{kind:"record",fields:{min_fee_sats:f23,name_fee_sats:f24,min_delegation_sats:f25,min_stake_to_propose_sats:f26,cooldown_rounds:f27,voting_period_rounds:f28,execution_delay_rounds:f29,quorum_percent:f30,approval_percent:f31,max_active_proposals:f30,treasury_percent:f32,council_percent:f33,slash_percent:f34,checkpoint_interval_rounds:f35,proposal_bond_sats:f36,max_active_per_proposer:f30,account_fee_sats:f37,round_interval_ms:f0,epoch_rounds:f0,collection_depth_rounds:f0,round_reward:f1,halving_rounds:f0,default_commission_percent:f38,min_stake_sats:f1,faucet_max_sats:f39}}}}},
  },
  transactions: {
    send: {method:"POST",path:"/tx",body:{kind:"record",fields:{secret_key:f20,to:f4,amount:f1,fee:f1,memo:f40},optional:["memo"]},answer:f42},
    submit: {method:"POST",path:"/tx/submit",body:{kind:"union",of:[f45,f46,f47,f48,f49,f50,f55,f56,f57,f58,f59,{kind:"list",of:f60,min:1,max:1000}]},answer:{kind:"union",of:[f42,{kind:"list",of:{kind:"union",of:[{kind:"record",fields:{status_code:{kind:"literal",values:[200]},tx_hash:f13,status:f41,nonce:f0}},{kind:"record",fields:{status_code:{kind:"integer",min:400,max:599,expected:"an integer from 400 to 599"},code:f3,error:f3},isOpen:true}]}}]}},
    lookup: {method:"GET",path:"/tx/:hash",params:f61,answer:f68},
    history: {method:"GET",path:"/account/:address/transactions",params:f5,query:{kind:"record",fields:{limit:f30,type:f21,direction:f69,from:f0,until:f0,cursor:f70},optional:["limit","type","direction","from","until","cursor"]},answer:{kind:"record",fields:{transactions:{kind:"list",of:{kind:"record",fields:{hash:f13,direction:f69,status:f62,round:f63,vertex_hash:f64,validator:f65,applied:f66,failure:f9,proposal_id:f63,timestamp:f67,transaction:f60}}},next_cursor:f9}}},
    statement: {method:"GET",path:"/account/:address/statement",params:f5,query:f71,answer:{kind:"record",fields:{address:f6,balance:f1,entries:{kind:"list",of:{kind:"record",fields:{kind:{kind:"literal",values:["sent","received","genesis","reward","fees","council","treasury_payment","bond_returned","stake_released","delegation_released","stake_slashed","delegations_slashed"]},change:{kind:"integer",min:-2100000000000000,max:2100000000000000,expected:"an integer from -2100000000000000 to 2100000000000000"},amount:f1,fee:f39,type:{kind:"literal",values:["Transfer","StakeTx","UnstakeTx","DelegateTx","UndelegateTx","SetCommissionTx","CreateProposalTx","VoteTx","RegisterNameTx","SetAccountPolicyTx","RotateKeyTx",null]},hash:f64,counterparty:f65,applied:f66,proposal_id:f63,memo:f9,round:f0,since:f19,timestamp:f19}}},next_cursor:f9}}},
    latest: {method:"GET",path:"/transactions",query:{kind:"record",fields:{limit:f30,type:f21,words:{kind:"text",min:0,max:200,expected:"at most 200 characters"},from:f0,until:f0,cursor:f70},optional:["limit","type","words","from","until","cursor"]},answer:{kind:"record",fields:{transactions:{kind:"list",of:f68},next_cursor:f9}}},
  },
  archive: {
    balances: {method:"GET",path:"/account/:address/balances",params:f5,query:{kind:"record",fields:{limit:f30,commit:f0,step:{kind:"integer",min:1,max:9007199254740991,expected:"an integer from 1 to 2^53 - 1"}},optional:["limit","commit","step"]},answer:{kind:"record",fields:{address:f6,balances:{kind:"list",of:{kind:"record",fields:{commit:f0,timestamp:f19,balance:f1,nonce:f0}}},next_commit:f63}}},
    richest: {method:"GET",path:"/accounts",query:f71,answer:{kind:"record",fields:{accounts:{kind:"list",of:{kind:"record",fields:{address:f6,name:f9,balance:f1}}},next_cursor:f9}}},
    statistics: {method:"GET",path:"/statistics",query:{kind:"record",fields:{limit:{kind:"integer",min:1,max:500,expected:"an integer from 1 to 500"},interval:{kind:"literal",values:["hour","day"]},until:f0},optional:["limit","interval","until"]},answer:{kind:"record",fields:{statistics:{kind:"list",of:{kind:"record",fields:{timestamp:f19,commits:f0,vertices:f0,transactions:f0,failed:f0,fees:f0,total_supply:f1}}}}}},
  },
  staking: {
    stake: {method:"POST",path:"/stake",body:{kind:"record",fields:{secret_key:f20,amount:f1}},answer:f42},
    unstake: {method:"POST",path:"/unstake",body:f72,answer:f42},
    stakeOf: {method:"GET",path:"/stake/:address",params:f5,answer:{kind:"record",fields:{address:f6,staked_amount:f1,staked_coin:f2,commission_percent:f38,effective_stake:f1,delegator_count:f0,is_active_validator:f7,unstaking:f7,unlock_at_round:f63,in_committee:f7}}},
    validators: {method:"GET",path:"/validators",answer:{kind:"record",fields:{validators:{kind:"list",of:{kind:"record",fields:{address:f6,effective_stake:f1,commission_percent:f38,delegator_count:f0,is_active:f7,in_committee:f7}}},total_staked:f1,active_count:f0,max_validators:f0}}},
  },
  delegation: {
    delegate: {method:"POST",path:"/delegate",body:{kind:"record",fields:{secret_key:f20,validator:f4,amount:f1}},answer:f42},
    undelegate: {method:"POST",path:"/undelegate",body:f72,answer:f42},
    setCommission: {method:"POST",path:"/set-commission",body:{kind:"record",fields:{secret_key:f20,commission_percent:f38}},answer:f42},
    delegationOf: {method:"GET",path:"/delegation/:address",params:f5,answer:{kind:"record",fields:{delegator:f6,validator:f6,amount:f1,amount_coin:f2,undelegating:f7,unlock_at_round:f63}}},
    delegators: {method:"GET",path:"/validator/:address/delegators",params:f5,answer:{kind:"record",fields:{validator:f6,delegator_count:f0,total_delegated:f1,delegators:{kind:"list",of:{kind:"record",fields:{address:f6,amount:f1,amount_coin:f2,undelegating:f7}}}}}},
  },
  governance: {
    propose: {method:"POST",path:"/proposal",body:{kind:"record",fields:{secret_key:f20,title:f51,description:f52,proposal_type:f54,fee:f1}},answer:f42},
    vote: {method:"POST",path:"/vote",body:{kind:"record",fields:{secret_key:f20,proposal_id:f0,vote:f7,fee:f1}},answer:f42},
    proposals: {method:"GET",path:"/proposals",answer:{kind:"record",fields:{count:f0,proposals:{kind:"list",of:{kind:"record",fields:{id:f0,title:f3,description:f3,texts_pruned:f7,tx_hash:f13,proposal_type:f73,payload:f74,status:f75,proposer:f6,votes_for:f1,votes_against:f1,snapshot_total_stake:f1,created_at_round:f0,voting_ends_at_round:f0,executes_at_round:f0,failure:f9,bond:f1,bond_status:f76}}}}}},
    proposal: {method:"GET",path:"/proposal/:id",params:{kind:"record",fields:{id:f0}},answer:{kind:"record",fields:{id:f0,title:f3,description:f3,texts_pruned:f7,tx_hash:f13,proposal_type:f73,payload:f74,status:f75,proposer:f6,votes_for:f1,votes_against:f1,snapshot_total_stake:f1,created_at_round:f0,voting_ends_at_round:f0,executes_at_round:f0,failure:f9,bond:f1,bond_status:f76,voters:{kind:"list",of:{kind:"record",fields:{address:f6,vote:{kind:"literal",values:["yes","no"]},weight:f1}}}}}},
    voteOf: {method:"GET",path:"/vote/:id/:address",params:{kind:"record",fields:{id:f0,address:f4}},answer:{kind:"record",fields:{proposal_id:f0,address:f6,vote:{kind:"literal",values:["yes","no",null]},weight:f1}}},
    config: {method:"GET",path:"/governance/config",answer:{kind:"record",fields:{min_fee_sats:f23,name_fee_sats:f24,min_delegation_sats:f25,min_stake_to_propose_sats:f26,cooldown_rounds:f27,voting_period_rounds:f28,execution_delay_rounds:f29,quorum_percent:f30,approval_percent:f31,max_active_proposals:f30,treasury_percent:f32,council_percent:f33,slash_percent:f34,checkpoint_interval_rounds:f35,proposal_bond_sats:f36,max_active_per_proposer:f30,account_fee_sats:f37,protocol_version:f0,governable_params:{kind:"list",of:{kind:"record",fields:{name:f3,value:f0,min:f0,max:f0}}}}}},
  },
  dag: {
    round: {method:"GET",path:"/round/:round",params:f77,answer:{kind:"record",fields:{round:f0,timestamp:f67,finalized:f7,vertices:{kind:"list",of:{kind:"record",fields:{hash:f13,validator:f6,reward:f1,tx_count:f0,parent_count:f0}}}}}},
    vertex: {method:"GET",path:"/vertex/:hash",params:f61,answer:{kind:"record",fields:{hash:f13,round:f0,validator:f6,parent_count:f0,parents:f14,coinbase_reward:f1,timestamp:f19,finalized:f7,transactions:{kind:"list",of:{kind:"record",fields:{type:f21,hash:f13,fee:f1,outcome:{kind:"literal",values:["applied","failed","no effect",null]}}}}}}},
    columns: {method:"GET",path:"/dag",query:{kind:"record",fields:{from:f0,rounds:{kind:"integer",min:1,max:120,expected:"an integer from 1 to 120"}},optional:["from","rounds"]},answer:{kind:"record",fields:{dag_round:f0,finalized_round:f0,validators:f12,columns:{kind:"list",of:{kind:"record",fields:{round:f0,epoch:f0,timestamp:f67,finalized:f7,leader:{kind:"union",of:[{kind:"record",fields:{validator:f0,verdict:{kind:"literal",values:["undecided","committed","skipped"]}}},f8]},vertices:{kind:"list",of:{kind:"record",fields:{hash:f13,validator:f0,tx_count:f0,commit_index:f63,parents:f78,older_parents:{kind:"list",of:{kind:"record",fields:{round:f0,validator:f0}}}}}}}}}}}},
  },
  checkpoints: {
    latest: {method:"GET",path:"/checkpoint/latest",answer:f79},
    list: {method:"GET",path:"/checkpoints",query:{kind:"record",fields:{limit:f30,before:f0,closing:{kind:"literal",values:["only"]}},optional:["limit","before","closing"]},answer:{kind:"record",fields:{checkpoints:{kind:"list",of:{kind:"record",fields:{epoch:f0,round:f0,commit_index:f0,hash:f13,closes_epoch:f7,members:f17,total_supply:f1,signatures:f0,timestamp:f67}}},next_round:f63}}},
    checkpoint: {method:"GET",path:"/checkpoint/:round",params:f77,answer:f79},
    byHash: {method:"GET",path:"/checkpoint/hash/:hash",params:f61,answer:f79},
    closing: {method:"GET",path:"/checkpoint/epoch/:epoch",params:{kind:"record",fields:{epoch:f0}},answer:f79},
    state: {method:"GET",path:"/state/:root/:position",params:{kind:"record",fields:{root:f13,position:{kind:"pattern",pattern:"^[0-9a-f]{66}$",expected:"66 hex characters"}}},answer:{kind:"record",fields:{state_root:f13,piece:f80}}},
    transactionProof: {method:"GET",path:"/proof/tx/:hash",params:f61,answer:{kind:"record",fields:{hash:f13,network_id:f22,vertex:f80,headers:{kind:"list",of:f80,max:64},previous:f13,commits:{kind:"list",of:{kind:"record",fields:{index:f0,epoch:f0,leader_round:f0,leader_hash:f13}},min:1,max:10001},checkpoint:f79}}},
    proof: {method:"GET",path:"/proof/:address",params:f5,answer:{kind:"record",fields:{address:f6,key:f13,record:f9,proof:{kind:"record",fields:{siblings:{kind:"list",of:{kind:"record",fields:{hash:f13,records:f0}},max:251},leaf:{kind:"list",of:{kind:"record",fields:{key:f13,value:f80}},max:32}}},checkpoint:f79}}},
  },
  monitoring: {
    metrics: {method:"GET",path:"/metrics"},
    metricsJson: {method:"GET",path:"/metrics/json",answer:{kind:"record",fields:{dag_round:f0,finalized_round:f0,finality_lag:f0,peer_count:f0,mempool_size:f0,total_supply:f1,total_staked:f1,active_validators:f0,checkpoint_latest:f0,uptime_seconds:f0}}},
    history: {method:"GET",path:"/metrics/history",query:{kind:"record",fields:{range:f81,since:f0},optional:["range","since"]},answer:{kind:"record",fields:{range:f81,step_ms:f0,at:f82,measured_ms:f78,transactions:f78,rounds:f78,fees:f83,finality_ms:f84,total_supply:f83,total_staked:f83,mempool_size:f78}}},
    attendance: {method:"GET",path:"/metrics/validators",query:f85,answer:{kind:"record",fields:{range:f81,since:f67,validators:{kind:"list",of:{kind:"record",fields:{address:f6,made:f0,missed:f0}}}}}},
    validatorRounds: {method:"GET",path:"/validator/:address/rounds",params:f5,query:f85,answer:{kind:"record",fields:{validator:f6,range:f81,step_ms:f0,at:f82,made:f78,missed:f78,delegators:f84,delegated:{kind:"list",of:f39}}}},
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
  NotReady: {kind:"record",fields:{code:{kind:"literal",values:["NotReady"]},error:f3,reason:{kind:"literal",values:["behind","no_quorum","signer","halted"]}}},
  ForeignHost: {kind:"record",fields:{code:{kind:"literal",values:["ForeignHost"]},error:f3}},
  RateLimited: {kind:"record",fields:{code:{kind:"literal",values:["RateLimited"]},error:f3,limit:f2,window_seconds:f2,retry_after_seconds:f2}},
  HeadersTooLarge: {kind:"record",fields:{code:{kind:"literal",values:["HeadersTooLarge"]},error:f3}},
  InternalError: {kind:"record",fields:{code:{kind:"literal",values:["InternalError"]},error:f3}},
  Unavailable: {kind:"record",fields:{code:{kind:"literal",values:["Unavailable"]},error:f3,retry_after_seconds:f2}},
  ShuttingDown: {kind:"record",fields:{code:{kind:"literal",values:["ShuttingDown"]},error:f3}},
  TooManyStreams: {kind:"record",fields:{code:{kind:"literal",values:["TooManyStreams"]},error:f3,limit:f2,retry_after_seconds:f2}},
  PathNotFound: {kind:"record",fields:{code:{kind:"literal",values:["PathNotFound"]},error:f3}},
  MethodNotAllowed: {kind:"record",fields:{code:{kind:"literal",values:["MethodNotAllowed"]},error:f3,allowed:f18}},
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

export const event: Form = {kind:"union",of:[{kind:"record",fields:{type:{kind:"literal",values:["round"]},round:f0,finalized_round:f0}},{kind:"record",fields:{type:{kind:"literal",values:["vertex"]},hash:f13,round:f0,validator:f6,reward:f1,tx_count:f0}},{kind:"record",fields:{type:{kind:"literal",values:["transaction"]},hash:f13,transaction_type:f21,from:f6,to:f6,status:f62,applied:f66},optional:["to"]},{kind:"record",fields:{type:{kind:"literal",values:["alert"]},severity:{kind:"literal",values:["info","warning","critical"]},message:f3}},{kind:"record",fields:{type:{kind:"literal",values:["reset"]},message:f3}}]}

export const transaction: Form = f60

/** The fees of a network with standard parameters. */
export const usualPrices = { min_fee_sats: 1000, name_fee_sats: 100000, account_fee_sats: 1100000 }
