import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { ActiveResponses } from '../../../daemons/execd/active-responses.js';
import { SETTINGS } from '../../../daemons/execd/execd-settings.js';
import { ResponsePolicy } from '../../../daemons/execd/response-policy.js';
import { ResponseRunner } from '../../../daemons/execd/response-runner.js';
import { ResponseStore } from '../../../daemons/execd/response-store.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';

/** Writes what it reads to logs/NAME.log, one line each, with its order in front. */
const NOTE = `note() { printf '%s\\n' "$1" >> logs/"$(basename "$0")".log; }\n`;

/** A script as users write them: it asks for its srcip, and says what it was told. */
export const STATEFUL = `#!/bin/sh
${NOTE}read -r line; note "$line"
case "$line" in *'"command":"delete"'*) exit 0;; esac
ip=$(printf '%s' "$line" | sed 's/.*"srcip":"\\([^"]*\\)".*/\\1/')
printf '{"version":1,"origin":{"name":"x","module":"active-response"},"command":"check_keys","parameters":{"keys":["%s"]}}\\n' "$ip"
read -r line && note "$line"
exit 0
`;

/** A script that asks nothing. */
export const STATELESS = `#!/bin/sh\n${NOTE}read -r line; note "$line"\n`;

/** svc-execd's runner on a temporary home, with clocks that tests turn. */
export class ResponseKit {
  readonly home: TemporaryHome;
  readonly logger = new RecordingLogger();
  restarts = 0;
  /** Time limit of scripts. */
  maxRunMs = 30_000;
  /** Milliseconds that have passed. */
  passed = 0;
  runner!: ResponseRunner;
  policy!: ResponsePolicy;
  store!: ResponseStore;

  constructor(role: 'server' | 'agent' = 'server') {
    this.home = new TemporaryHome({ version: 1, role });
    mkdirSync(this.home.path('active-response', 'bin'), { recursive: true, mode: 0o750 });
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), this.home.path('etc', 'internal_options.conf'));
    this.configure('');
  }

  configure(sections: string): void {
    writeFileSync(this.home.path('etc', 'manager.conf'), `<manager_config>\n${sections}\n</manager_config>`);
  }

  /** A command of that name and timeout, with its script. */
  response(name: string, script: string, timeout = 0, more = ''): string {
    this.script(name, script);
    return `<command><name>${name}</name><executable>${name}</executable><timeout_allowed>yes</timeout_allowed>${more}</command>
<active-response><command>${name}</command><location>server</location><level>10</level><timeout>${String(timeout)}</timeout></active-response>`;
  }

  script(name: string, text: string, mode = 0o750): void {
    const path = this.home.path('active-response', 'bin', name);
    writeFileSync(path, text);
    chmodSync(path, mode);
  }

  async open(): Promise<void> {
    const settings = SETTINGS.load({ name: 'svc-execd', home: this.home, logger: this.logger, ownFlags: {} });
    this.store = await ResponseStore.open(this.home.path('queue', 'execd'));
    const clocks = { wall: () => 1_800_000_000_000 + this.passed, monotonic: () => this.passed };
    const active = new ActiveResponses(this.store, clocks);
    this.policy = new ResponsePolicy({ home: this.home, settings: () => settings, logger: this.logger });
    this.runner = new ResponseRunner({
      store: this.store,
      active,
      policy: this.policy,
      directory: this.home.root,
      restart: () => (this.restarts += 1),
      logger: this.logger,
      maxRunMs: this.maxRunMs,
    });
    this.runner.start();
  }

  async close(): Promise<void> {
    await this.runner.stop();
    await this.store.close();
  }

  /** Time goes by, and what is due then is undone. */
  async pass(seconds: number): Promise<void> {
    this.passed += seconds * 1000;
    this.runner.undoDue();
    await this.runner.idle();
  }

  /** Has a response run to its end. */
  async run(command: string, srcip = '203.0.113.9', parameters: object = {}): Promise<void> {
    await this.runner.accept(this.message(command, srcip, parameters));
    await this.runner.idle();
  }

  message(command: string, srcip: string, parameters: object = {}): string {
    return JSON.stringify({
      version: 1,
      origin: { name: 'node01', module: 'wazuh-analysisd' },
      command,
      parameters: { extra_args: ['-from', 'message'], alert: { rule: { id: '5712' }, data: { srcip } }, ...parameters },
    });
  }

  /** Lines that a script was told, whole. */
  lines(script: string): string[] {
    const path = this.home.path('logs', `${script}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }

  /** `add 203.0.113.9`, in order. */
  told(script: string): string[] {
    return this.lines(script).map((line) => {
      const { command, parameters } = JSON.parse(line) as {
        command: string;
        parameters: { alert: { data: { srcip: string } } };
      };
      return `${command} ${parameters.alert.data.srcip}`;
    });
  }
}
