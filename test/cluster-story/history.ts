/** What became of one request: `unknown` may have been carried out or not. */
export type Outcome = 'done' | 'refused' | 'unknown';

/** @param said what it was answered, to be shown where it does not fit what is there */
export type Settle = (outcome: Outcome, said?: string) => void;

type Asked = { readonly begun: number; ended: number; outcome: Outcome; said: string };
/** A change of who is in which group, of one agent. */
type Change = Asked & { readonly groups: string };
type Enrolment = Asked & { readonly name: string; id: string | undefined };

/** An agent as a node shows it. */
export type SeenAgent = { readonly id: string; readonly name: string; readonly groups: readonly string[] };

/**
 * All that was asked of a cluster and what was answered, and whether what its nodes show at the end can have come of it: nothing
 * that was acknowledged is lost, no id and no name is there twice, and each agent is in the groups of a change that no other
 * one came after. Times are those of whoever asked, so that of two requests it is known whether one ended before the other began.
 */
export class History {
  readonly #enrolments: Enrolment[] = [];
  readonly #changes = new Map<string, Change[]>();
  readonly #groups = new Map<string, Asked>();
  readonly #answers = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds, rising */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns to be called with what became of it, and the id that was given */
  enrol(name: string): (outcome: Outcome, id?: string, said?: string) => void {
    const enrolment: Enrolment = { name, id: undefined, ...this.#asked() };
    this.#enrolments.push(enrolment);
    return (outcome, id, said = '') => {
      Object.assign(enrolment, { id });
      this.#settle(enrolment, outcome, said);
    };
  }

  makeGroup(name: string): Settle {
    const group = this.#asked();
    this.#groups.set(name, group);
    return (outcome, said = '') => {
      this.#settle(group, outcome, said);
    };
  }

  /** The agent is put into these groups, and into no others. */
  setGroups(agent: string, groups: readonly string[]): Settle {
    const change: Change = { groups: groups.join(), ...this.#asked() };
    const changes = this.#changes.get(agent) ?? [];
    changes.push(change);
    this.#changes.set(agent, changes);
    return (outcome, said = '') => {
      this.#settle(change, outcome, said);
    };
  }

  #asked(): Asked {
    return { outcome: 'unknown', said: 'it was not answered yet', begun: this.#now(), ended: Infinity };
  }

  #settle(asked: Asked, outcome: Outcome, said: string): void {
    Object.assign(asked, { outcome, said, ended: this.#now() });
    if (outcome !== 'done') {
      this.#answers.set(`${outcome}: ${said}`, (this.#answers.get(`${outcome}: ${said}`) ?? 0) + 1);
    }
  }

  /** What was answered where nothing was acknowledged, the most frequent first, each with how often. */
  get answers(): string[] {
    return [...this.#answers].sort(([, one], [, other]) => other - one).map(([said, count]) => `${count} ${said}`);
  }

  /** Ids that were given, of agents that are known to be there. */
  get ids(): string[] {
    return this.#enrolments.flatMap(({ id, outcome }) => (outcome === 'done' && id !== undefined ? [id] : []));
  }

  /** Groups that are known to be there. */
  get groups(): string[] {
    return [...this.#groups].flatMap(([name, { outcome }]) => (outcome === 'done' ? [name] : []));
  }

  counts(): Readonly<Record<Outcome, number>> {
    const all = [
      ...this.#enrolments.map(({ outcome }) => outcome),
      ...[...this.#groups.values()].map(({ outcome }) => outcome),
      ...[...this.#changes.values()].flat().map(({ outcome }) => outcome),
    ];
    const count = (wanted: Outcome): number => all.filter((outcome) => outcome === wanted).length;
    return { done: count('done'), refused: count('refused'), unknown: count('unknown') };
  }

  /** What is wrong with what a node shows; nothing, if all is well. @param agents without the manager itself */
  breaches(agents: readonly SeenAgent[], groups: readonly string[]): string[] {
    return [...this.#agentBreaches(agents), ...this.#groupBreaches(agents, groups)];
  }

  *#agentBreaches(agents: readonly SeenAgent[]): Generator<string> {
    yield* twice(
      'id',
      agents.map(({ id }) => id),
    );
    yield* twice(
      'name',
      agents.map(({ name }) => name),
    );
    yield* twice('id given', this.ids);
    const byName = new Map(agents.map((agent) => [agent.name, agent]));
    for (const { name, id, outcome, said } of this.#enrolments) {
      const seen = byName.get(name);
      if (outcome === 'done' && seen === undefined) yield `agent ${id ?? ''} '${name}' was enrolled, and is lost`;
      if (outcome === 'done' && seen !== undefined && seen.id !== id) {
        yield `'${name}' was given id ${id ?? ''}, and has ${seen.id}`;
      }
      if (outcome === 'refused' && seen !== undefined) yield `'${name}' was refused (${said}), and is there`;
    }
  }

  *#groupBreaches(agents: readonly SeenAgent[], groups: readonly string[]): Generator<string> {
    for (const [name, { outcome, said }] of this.#groups) {
      if (outcome === 'done' && !groups.includes(name)) yield `group '${name}' was made, and is lost`;
      if (outcome === 'refused' && groups.includes(name)) yield `group '${name}' was refused (${said}), and is there`;
    }
    for (const { id, groups: has } of agents) {
      const changes = this.#changes.get(id) ?? [];
      const possible = possibleGroups(changes);
      if (!possible.has(has.join())) {
        const only = [...possible].map((one) => `'${one}'`).join(' or ');
        yield `agent ${id} is in '${has.join()}', and can only be in ${only}; it was asked: ${changes.map(told).join('; ')}`;
      }
      const missing = has.find((name) => !groups.includes(name));
      if (missing !== undefined) yield `agent ${id} is in group '${missing}', which is not there`;
    }
  }
}

function* twice(what: string, values: readonly string[]): Generator<string> {
  const seen = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) yield `${what} ${value} is there twice`;
    seen.add(value);
  }
}

function told({ groups, outcome, said, begun, ended }: Change): string {
  return `'${groups}' from ${begun.toFixed()} to ${ended.toFixed()} ms, ${outcome} (${said})`;
}

/** Groups of an agent after these changes: those of one that no acknowledged one came after. */
function possibleGroups(changes: readonly Change[]): ReadonlySet<string> {
  const acknowledged = changes.filter(({ outcome }) => outcome === 'done');
  const last = changes.filter(
    (change) => change.outcome !== 'refused' && !acknowledged.some(({ begun }) => begun > change.ended),
  );
  const possible = new Set(last.map(({ groups }) => groups));
  if (acknowledged.length === 0) possible.add('default');
  return possible;
}
