import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initHome } from '../../bin/control/home/init-home.js';
import { Home } from '../../lib/home/home.js';
import { removeTree } from '../support/remove-tree.js';
import { RESPONSE_PROGRAM } from './effects.js';
import { DECODERS, rulesText } from './numbered-events.js';

/** Outputs move on to the next part at this size (the least there is), so that a run has several. */
const MAX_OUTPUT_BYTES = 1_000_000;

export type ChaosHomeOptions = {
  /** `<journal><sync>` of the configuration; undefined leaves the default. */
  readonly sync: string | undefined;
  /** Seconds. */
  readonly checkpointInterval: number;
  /** Most megabytes of the journal. */
  readonly journalMegabytes: number;
  /** Threads of the analysis. */
  readonly threads: number;
  /** Port of the receiver that alerts are forwarded to. */
  readonly syslogPort: number;
};

/** A directory with a home that has a small ruleset of its own, and what the run writes beside it. */
export class ChaosHome {
  readonly home: Home;
  /** The file that svc-logcollector follows. */
  readonly followed: string;
  readonly #directory: string;
  #rulesetVersion = 1;

  private constructor(directory: string) {
    this.#directory = directory;
    this.home = new Home(join(directory, 'home'));
    this.followed = this.beside('followed', 'app.log');
  }

  static async make(options: ChaosHomeOptions): Promise<ChaosHome> {
    const made = new ChaosHome(mkdtempSync(join(tmpdir(), 'svc-chaos-')));
    mkdirSync(made.beside('followed'));
    await initHome(made.home, { role: 'server' });
    made.#configure(options);
    return made;
  }

  /** A path beside the home. */
  beside(...segments: string[]): string {
    return join(this.#directory, ...segments);
  }

  /** The version of the rules that are on disk. */
  get rulesetVersion(): number {
    return this.#rulesetVersion;
  }

  /** Writes rules that name the next version; they come into force by a reload or start. */
  writeNextRuleset(): void {
    this.#rulesetVersion += 1;
    this.#writeRules();
  }

  remove(): void {
    removeTree(this.#directory);
  }

  #configure({ sync, checkpointInterval, journalMegabytes, threads, syslogPort }: ChaosHomeOptions): void {
    const { home } = this;
    // What is installed for users to add to builds on the shipped ruleset, which is not used here.
    for (const path of ['etc/rules/local_rules.xml', 'etc/decoders/local_decoder.xml']) rmSync(home.path(path));
    writeFileSync(home.path('etc', 'decoders', 'chaos.xml'), DECODERS);
    this.#writeRules();
    const program = home.path('active-response', 'bin', 'chaos-response');
    writeFileSync(program, RESPONSE_PROGRAM);
    chmodSync(program, 0o750);
    writeFileSync(
      home.path('api', 'configuration', 'api.yaml'),
      "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\n",
    );
    writeFileSync(
      home.path('etc', 'local_internal_options.conf'),
      'analysisd.min_rotate_interval=10\nlogcollector.vcheck_files=1\nmonitord.day_wait=2\n',
    );
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
  <global>
    <alerts_log>yes</alerts_log><jsonout_output>yes</jsonout_output><logall_json>yes</logall_json>
    <max_output_size>${String(MAX_OUTPUT_BYTES)}</max_output_size>
  </global>
  <alerts><log_alert_level>3</log_alert_level></alerts>
  <ruleset><decoder_dir>etc/decoders</decoder_dir><rule_dir>etc/rules</rule_dir></ruleset>
  <remote><connection>secure</connection><port>0</port></remote>
  <auth><disabled>yes</disabled></auth>
  <syscheck><disabled>yes</disabled></syscheck>
  <rootcheck><disabled>yes</disabled></rootcheck>
  <localfile>
    <log_format>syslog</log_format><location>${this.followed}</location>
    <only-future-events>no</only-future-events>
  </localfile>
  <syslog_output>
    <server>127.0.0.1</server><port>${String(syslogPort)}</port><protocol>tcp</protocol><format>json</format>
  </syslog_output>
  <command><name>chaos</name><executable>chaos-response</executable><timeout_allowed>yes</timeout_allowed></command>
  <active-response>
    <command>chaos</command><location>server</location><rules_id>100205</rules_id><timeout>3600</timeout>
  </active-response>
  <journal>
    ${sync === undefined ? '' : `<sync>${sync}</sync>`}
    <segment_size>1MB</segment_size>
    <max_size>${String(journalMegabytes)}MB</max_size>
    <checkpoint_interval>${String(checkpointInterval)}</checkpoint_interval>
  </journal>
  <analysis><threads>${String(threads)}</threads></analysis>
</manager_config>
`,
    );
  }

  #writeRules(): void {
    writeFileSync(this.home.path('etc', 'rules', 'chaos.xml'), rulesText(this.#rulesetVersion));
  }
}
