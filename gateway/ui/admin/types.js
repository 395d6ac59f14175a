/**
 * What the operator surface answers (docs/openapi/operator.json), as far as the page shows it.
 *
 * @typedef {{ number: number, name: string, role: string, may: string[] }} Me
 *
 * @typedef {object} Terms times in ISO 8601, empty without
 * @property {string} [opens_at]
 * @property {string} [closes_at]
 * @property {string} [game_start_time]
 * @property {boolean} [clear_book_on_start]
 * @property {number} [taker_delay_ms]
 * @property {number} [rebate_ppm]
 *
 * @typedef {object} Policy
 * @property {string[]} proposers
 * @property {string[]} disputers
 * @property {number} minimum_window_seconds
 * @property {boolean} second_person
 * @property {boolean} by_time
 *
 * @typedef {object} Market prices are of the first outcome
 * @property {string} conditionId
 * @property {"registered" | "active" | "paused" | "closed" | "resolved"} status
 * @property {string[]} outcomes
 * @property {boolean} archived
 * @property {string} tick
 * @property {string} minimumSize
 * @property {{ ratePpm: number, exponent: number }} fee
 * @property {number} [eventId]
 * @property {string[]} [holds]
 * @property {"yes" | "no" | "half"} [payout]
 * @property {string} question
 * @property {string} slug
 * @property {string} [endDate]
 * @property {Terms} [terms]
 * @property {boolean} own
 * @property {boolean} settled
 * @property {Policy} [policy]
 * @property {string} price
 * @property {string} bestBid
 * @property {string} bestAsk
 * @property {string} volume
 * @property {string} openInterest
 * @property {number} liveOrders
 *
 * @typedef {{ question: string, description: string, tags: string[] | null }} Words
 *
 * @typedef {object} Group
 * @property {number} event_id
 * @property {string} title
 * @property {string} slug
 * @property {string} ticker
 * @property {string} description
 * @property {string[]} tags
 * @property {boolean} own
 * @property {string[]} questions
 *
 * @typedef {{ disputed_by: string, disputed_at: string, counter_outcome?: string, reason: string }} Dispute
 *
 * @typedef {object} Proposal
 * @property {string} condition_id
 * @property {string} question
 * @property {string[]} outcomes
 * @property {number} proposal its number
 * @property {"yes" | "no" | "half"} payout
 * @property {string} outcome label of the payout
 * @property {string} proposed_by
 * @property {string} proposed_at
 * @property {string} source
 * @property {string} evidence_sha256
 * @property {string} challenge_ends
 * @property {boolean} challenge_over
 * @property {boolean} second_person
 * @property {boolean} by_time
 * @property {Dispute} [dispute]
 *
 * @typedef {{ condition_id: string, question: string, outcomes: string[], closed_at: string, closed_seconds: number }} Closed
 * @typedef {{ proposals: Proposal[], closed: Closed[] }} Review
 *
 * @typedef {object} Account
 * @property {string} wallet
 * @property {string} owner
 * @property {string} kind
 * @property {boolean} closed_only
 * @property {string} free
 * @property {string} reserved
 * @property {string} accrued
 * @property {number} live_orders
 *
 * @typedef {object} Order
 * @property {string} id
 * @property {string} market
 * @property {string} outcome
 * @property {string} side
 * @property {string} price
 * @property {string} original_size
 * @property {string} size_matched
 * @property {number} created_at Unix seconds
 *
 * @typedef {{ conditionId: string, title: string, outcome: string, size: number, avgPrice: number, currentValue: number, cashPnl: number }} Position
 * @typedef {{ conditionId: string, title: string, outcome: string, side: string, size: number, price: number, feeUsdc?: number, timestamp: number }} Fill
 *
 * @typedef {object} Withdrawal
 * @property {number} withdrawal its number
 * @property {string} wallet
 * @property {string} destination
 * @property {string} amount
 * @property {"requested" | "claimed" | "paid" | "failed" | "cancelled"} status
 * @property {string} requested_at
 * @property {string} changed_at
 * @property {string} payment
 * @property {string} asked_by empty: its user
 * @property {string} claimed_by
 * @property {string} ended_by
 * @property {boolean} needs_second_person
 *
 * @typedef {{ number: number, name: string, role: string, added: string, counts_from: string, revoked?: string }} Operator
 * @typedef {{ name: string, pid: number, ageSeconds: number, cpuSeconds: number, memoryBytes: number, threads: number }} Process
 *
 * @typedef {object} Exchange
 * @property {number} sequence
 * @property {string} durability
 * @property {string} mode
 * @property {number} markets
 * @property {number} accounts
 * @property {number} live_orders
 * @property {number} unpaid_markets
 * @property {number} oldest_unpaid_seconds
 * @property {boolean} outward_closed
 * @property {string} fees
 * @property {string} collateral
 * @property {{ withdrawal_limit: string, rebates_daily: boolean }} payments
 * @property {Policy} policy
 *
 * @typedef {object} Status
 * @property {{ ring: string, busy: number, diskLow: boolean, publisherLag: number, snapshotSequence: number, snapshotFailed: boolean } | null} engine
 * @property {{ version: string, ready: boolean, connections: number, inFlight: number }} gateway
 * @property {{ upstream: string, ageSeconds: number | null, findings: string[] }} [catalog]
 * @property {Exchange} exchange
 * @property {Process[]} processes
 *
 * @typedef {object} LoggedAct
 * @property {number} sequence
 * @property {string} time
 * @property {string} name
 * @property {string} role
 * @property {string} command
 * @property {string} [condition_id]
 * @property {string[]} [outcomes]
 * @property {string} [subject]
 * @property {Record<string, unknown>} fields
 * @property {string} reason
 *
 * @typedef {object} Answer to a command
 * @property {number} sequence
 * @property {boolean} duplicate
 * @property {boolean} [waits] a withdrawal that another operator pays
 * @property {number} [cancelled]
 * @property {string} [condition_id]
 * @property {string} [status]
 * @property {string} [outcome]
 * @property {number} [event_id]
 * @property {number} [number]
 * @property {string} [token]
 */

export {};
