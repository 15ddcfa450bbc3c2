import { isObject } from '../../lib/json/is-object.js';
import { amount, number, size } from '../terminal/amounts.js';
import { textTable } from '../terminal/text-table.js';
import type { DaemonStats, JournalStats, ProducerEvents, SinkEvents } from './daemon-stats.js';
import { outputLines, responseLines } from './effects-table.js';

/** The answers before these, to show what came in between. */
export type EarlierStats = { readonly daemons: readonly DaemonStats[]; readonly seconds: number };

/**
 * What people see: the way of events from their producers to their alerts, and to what follows from these.
 * @param details also what else the daemons count
 */
export function statsLines(daemons: readonly DaemonStats[], details: boolean, earlier?: EarlierStats): string[] {
  const lines: string[] = [];
  for (const { daemon, sink, journal } of daemons) {
    if (sink === undefined && journal === undefined) continue;
    const before = earlier?.daemons.find((each) => each.daemon === daemon)?.sink;
    lines.push(
      daemon,
      ...(sink === undefined ? [] : sinkLines(sink, before, earlier?.seconds)),
      ...journalLines(journal),
      '',
    );
  }
  const producers = daemons.flatMap(({ daemon, producer }) => (producer === undefined ? [] : [{ daemon, producer }]));
  if (producers.length > 0) lines.push(...producerLines(producers, earlier), '');
  for (const { effects } of daemons) {
    const outputs = effects?.outputs;
    if (outputs !== undefined && outputs.size > 0) lines.push(...outputLines(outputs), '');
  }
  for (const { daemon, effects } of daemons) {
    const { responses, feed } = effects ?? {};
    if (responses !== undefined) lines.push(...responseLines(daemon, responses, feed), '');
  }
  for (const { daemon, problem } of daemons) if (problem !== undefined) lines.push(`${daemon}: ${problem}`);
  for (const { daemon, producer } of producers) {
    if (producer.refusal !== undefined) lines.push(`${daemon}: its events are refused: ${producer.refusal}`);
    else if (producer.connected === false) lines.push(`${daemon}: its events cannot be delivered`);
  }
  if (details) {
    for (const { daemon, stats } of daemons) if (stats !== undefined) lines.push('', daemon, ...flat(stats, '  '));
  }
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

function sinkLines(sink: SinkEvents, before: SinkEvents | undefined, seconds: number | undefined): string[] {
  const { lag, dropped } = sink;
  const rate = (name: 'received' | 'journaled' | 'analysed' | 'alerts'): string => {
    const [now, then] = [sink[name], before?.[name]];
    if (now === undefined || then === undefined || seconds === undefined || now < then) return '';
    return `${number((now - then) / seconds)}/s`;
  };
  const names = ['received', 'journaled', 'analysed', 'alerts'] as const;
  const rows = names.map((name) => [`  ${name}`, amount(sink[name]), rate(name)]);
  const reasons = Object.entries(dropped ?? {}).filter(([, times]) => times > 0);
  return [
    ...textTable(
      [
        ...rows,
        ...((sink.replayed ?? 0) > 0 ? [['  replayed', amount(sink.replayed), '']] : []),
        ['  duplicates', amount(sink.duplicates), ''],
        ...(reasons.length === 0 ? [['  dropped', '0', '']] : []),
        ...reasons.map(([reason, times]) => [`  dropped, ${reason}`, amount(times), '']),
        [
          '  waiting',
          amount(lag?.events ?? sink.pending),
          lag === undefined ? '' : `${lag.seconds.toFixed(1)} s behind`,
        ],
      ],
      1,
    ),
  ];
}

function journalLines(journal: JournalStats | undefined): string[] {
  if (journal === undefined) return [];
  const { bytes, max_bytes: most, segments, sync, blocked, outputs_blocked: outputs, checkpoint } = journal;
  const age = checkpoint?.age_seconds;
  const facts = [
    ...(bytes === undefined ? [] : [`${size(bytes)}${most === undefined ? '' : ` of ${size(most)}`}`]),
    ...(segments === undefined ? [] : [`${number(segments)} ${segments === 1 ? 'segment' : 'segments'}`]),
    ...(sync === undefined ? [] : [`sync ${policy(sync)}`]),
    age === undefined || age === null ? 'no checkpoint yet' : `checkpoint ${age.toFixed(0)} s ago`,
  ];
  return [
    `  journal: ${facts.join(', ')}`,
    ...(blocked === undefined ? [] : [`  EVENTS ARE REFUSED: ${blocked}`]),
    ...(outputs === undefined ? [] : [`  ALERTS CANNOT BE WRITTEN: ${outputs}`]),
  ];
}

function policy(sync: string | number): string {
  if (typeof sync === 'number') return `every ${String(sync)} ms`;
  return sync === 'batch' ? 'of every batch' : sync;
}

function producerLines(
  producers: readonly { readonly daemon: string; readonly producer: ProducerEvents }[],
  earlier: EarlierStats | undefined,
): string[] {
  const head = ['PRODUCER', 'SENT', 'ACKNOWLEDGED', 'PENDING', 'RESENT', 'SENT BACK', 'WITHDRAWN', 'REFUSED'];
  const rows = producers.map(({ daemon, producer }) => {
    const before = earlier?.daemons.find((each) => each.daemon === daemon)?.producer;
    const gained = before === undefined ? -1 : producer.acknowledged - before.acknowledged;
    const rate = earlier === undefined || gained < 0 ? [] : [`${number(gained / earlier.seconds)}/s`];
    const { sent, acknowledged, pending, window, resent, sentBack, withdrawn, refused, rejected } = producer;
    const waiting = window === undefined ? amount(pending) : `${amount(pending)} of ${amount(window)}`;
    const lost = (refused ?? 0) + (rejected ?? 0);
    return [
      ...[daemon, amount(sent), amount(acknowledged), waiting, amount(resent), amount(sentBack), amount(withdrawn)],
      ...[amount(lost), ...rate],
    ];
  });
  return textTable([head, ...rows], 1);
}

/** Counters of any form, one a line. */
function flat(value: Readonly<Record<string, unknown>>, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (isObject(member)) {
      return flat(member as Record<string, unknown>, `${prefix}${name}.`);
    }
    return [`${prefix}${name}  ${typeof member === 'number' ? number(member) : JSON.stringify(member)}`];
  });
}
