import { setTimeout as delay } from 'node:timers/promises';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { Random } from '../chaos/random.js';
import { eventually } from '../support/eventually.js';
import type { Stage } from './stage.js';
import { FAILURES, KEYS } from './story-configuration.js';
import type { Kill, StoryLedger } from './story-ledger.js';

/** Who is killed: what an alert and its response pass through on both hosts. */
const VICTIMS: readonly (readonly [Kill['host'], DaemonName])[] = [
  ['manager', 'svc-analysisd'],
  ['manager', 'svc-monitord'],
  ['manager', 'svc-remoted'],
  ['manager', 'svc-execd'],
  ['agent', 'svc-execd'],
  ['agent', 'svc-agentd'],
];
/** Rule of a single failure with a key. */
const FAILURE_RULE = '5716';
/** Longest pauses, milliseconds: between failures of an address, from an attack to a kill, and behind it. */
const MAX_GAP_MS = 40;
const MAX_AHEAD_MS = 300;
const MAX_BEHIND_MS = 400;
/** What has arrived everywhere a minute after everything runs again will not arrive any more. */
const PATIENCE_MS = 60_000;
/** Failures and orders that a kill has lost are made up for so often. */
const MOST_ROUNDS = 4;
const POLL_MS = 50;

export type SecondPartOptions = {
  readonly addresses: readonly string[];
  /** Among them the one of the white list. */
  readonly friend: string;
  readonly kills: number;
  readonly seed: number;
  /** Seconds that addresses are dropped for. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

/** Many addresses attack while daemons of both hosts are killed; resolves when all has come that will come. */
export class ManyAttacks {
  readonly #stage: Stage;
  readonly #ledger: StoryLedger;
  readonly #options: SecondPartOptions;
  readonly #random: Random;
  #marks = 0;

  constructor(stage: Stage, ledger: StoryLedger, options: SecondPartOptions) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<void> {
    const { addresses, kills, seed, seconds, say } = this.#options;
    say(`\n2. ${String(addresses.length)} addresses at once, ${String(kills)} kills, seed ${String(seed)}:\n`);
    await this.#attackAndKill();
    await this.#up();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await this.#mark();
      if (!this.#complete()) continue;
      await this.#reaction();
      if (!this.#repeatLost()) break;
    }
    say(`  all attacks have their alert; ${String(seconds)} s after each the address is let in again`);
    await this.#quietly(seconds * 1000 + PATIENCE_MS, () => {
      const events = this.#stage.firewall.events();
      return (
        events.filter(({ action }) => action === 'dropped').length <=
        events.filter(({ action }) => action === 'let in').length
      );
    });
    await this.#mark();
    await this.#quietly(PATIENCE_MS, () => this.#ledger.hasArrived());
  }

  /** The same kills of the same daemons for the same seed, though never at the same moment of the product. */
  async #attackAndKill(): Promise<void> {
    const { addresses, kills, signal, say } = this.#options;
    const attacks: Promise<void>[] = [];
    const waiting = [...addresses];
    const share = Math.ceil(waiting.length / Math.max(1, kills));
    const begin = performance.now();
    for (let kill = 0; kill < kills; kill += 1) {
      for (const address of waiting.splice(0, share)) attacks.push(this.#attack(address));
      await delay(this.#random.integer(0, MAX_AHEAD_MS), undefined, { signal });
      const [name, daemon] = this.#random.pick(VICTIMS);
      const host = this.#stage[name];
      // One that was killed a moment ago may not be there yet.
      while (!(await host.kill(daemon))) await host.waitUntilUp();
      this.#ledger.kills.push({ host: name, daemon, at: Date.now() });
      if (daemon === 'svc-monitord') await this.#stage.receivers.noteKill();
      say(`  ${((performance.now() - begin) / 1000).toFixed(2).padStart(6)} s  kill -9 ${daemon} of the ${name}`);
      await delay(this.#random.integer(0, MAX_BEHIND_MS), undefined, { signal });
      // At times others are killed before it is back.
      if (this.#random.chance(0.5)) await host.waitUntilUp();
      else void host.startAll();
    }
    for (const address of waiting) attacks.push(this.#attack(address));
    await Promise.all(attacks);
  }

  async #attack(address: string): Promise<void> {
    const gaps = Array.from({ length: FAILURES }, () => this.#random.integer(0, MAX_GAP_MS));
    for (const gap of gaps) {
      this.#stage.log.fail(KEYS, address);
      await delay(gap, undefined, { signal: this.#options.signal });
    }
    this.#ledger.attacked(address);
  }

  async #up(): Promise<void> {
    await Promise.all([this.#stage.manager.waitUntilUp(), this.#stage.agent.waitUntilUp()]);
  }

  /** Resolves when a line that is written now has its alert: what was written before it has arrived, or never will. */
  async #mark(): Promise<void> {
    this.#marks += 1;
    const [line = ''] = this.#stage.log.fail(KEYS, `192.0.2.${String(100 + this.#marks)}`);
    const { alerts } = this.#stage;
    await this.#wait('the alert of a line written last', () => alerts.all().some(({ full_log }) => full_log === line));
  }

  /** Has those attack on of whom a kill has taken failures. @returns whether there are none */
  #complete(): boolean {
    const { alerts, log } = this.#stage;
    const { say } = this.#options;
    const short = this.#options.addresses.filter(
      (address) => alerts.of(KEYS.rule, address).length < this.#ledger.attacksOf(address),
    );
    for (const address of short) {
      const arrived = alerts.of(FAILURE_RULE, address).length + alerts.of(KEYS.rule, address).length;
      const more = FAILURES - (arrived % FAILURES);
      say(`  ${address} has ${String(arrived)} failures with an alert and attacks on: ${String(more)} more`);
      log.fail(KEYS, address, more);
    }
    return short.length === 0;
  }

  /** Resolves when all are dropped who will be: an order is good for as long as its time-out. */
  async #reaction(): Promise<void> {
    await this.#quietly(this.#options.seconds * 1000, () => this.#ledger.notDropped().length === 0);
  }

  /** Those attack again of whom the order was lost with a daemon that had it. @returns whether there are any */
  #repeatLost(): boolean {
    const lost = this.#ledger.notDropped().filter((address) => this.#ledger.excuseLostOrder(address));
    for (const address of lost) {
      this.#options.say(`  the order about ${address} was lost with a daemon that had it: it attacks again`);
      this.#stage.log.fail(KEYS, address, FAILURES);
      this.#ledger.attacked(address);
    }
    return lost.length > 0;
  }

  async #wait(what: string, probe: () => boolean): Promise<void> {
    const { signal } = this.#options;
    await eventually(
      what,
      () => {
        signal.throwIfAborted();
        return probe();
      },
      PATIENCE_MS,
    );
  }

  /** Waits for something; whether it came is judged in the end. */
  async #quietly(mostMs: number, probe: () => boolean): Promise<void> {
    const end = performance.now() + mostMs;
    while (!probe() && performance.now() < end) await delay(POLL_MS, undefined, { signal: this.#options.signal });
  }
}
