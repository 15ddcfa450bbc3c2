import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { productRoot } from '../../../lib/product/product-root.js';
import { ApiClient } from '../api/api-client.js';
import type { TestResponse } from '../api/http-request.js';
import { TestProgram } from '../daemon/run-program.js';
import { eventually } from '../eventually.js';
import { TemporaryHome } from '../temporary-home.js';

/** Nothing of this host is looked at, and no port is fixed. */
const CONFIGURATION = `<manager_config>
  <global><jsonout_output>yes</jsonout_output><alerts_log>yes</alerts_log></global>
  <ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir>
    <decoder_dir>etc/decoders</decoder_dir><rule_dir>etc/rules</rule_dir></ruleset>
  <remote><connection>secure</connection><port>0</port></remote>
  <auth><port>0</port></auth>
  <syscheck><disabled>yes</disabled></syscheck>
  <rootcheck><disabled>yes</disabled></rootcheck>
  <sca><enabled>no</enabled></sca>
  <wodle name="syscollector"><disabled>yes</disabled></wodle>
  <cluster><disabled>yes</disabled></cluster>
</manager_config>
`;

const START_MS = 90_000;

/** A whole manager on a home of its own, as `npm start` makes it, for pages that are looked at in a browser. */
export class ConsoleHome {
  readonly home = new TemporaryHome();
  #program: TestProgram | undefined;
  #api: ApiClient | undefined;
  /** 0 at first, so that it keeps its port when it is started again. */
  #port = 0;

  private constructor(private readonly apiYaml: string) {}

  /** @param apiYaml more lines of api.yaml */
  static async start(apiYaml = ''): Promise<ConsoleHome> {
    const made = new ConsoleHome(apiYaml);
    const { home } = made;
    // The first start makes a home out of what is there.
    mkdirSync(home.path('api', 'configuration'), { recursive: true });
    writeFileSync(home.path('etc', 'manager.conf'), CONFIGURATION);
    await made.run();
    return made;
  }

  /** Where the console is. */
  get url(): string {
    return `https://127.0.0.1:${String(this.#port)}/console`;
  }

  get password(): string {
    return readFileSync(this.home.path('api', 'configuration', 'security', 'initial-admin-password'), 'utf8').trim();
  }

  /** Starts it, or starts it again at the same port. */
  async run(): Promise<void> {
    writeFileSync(
      this.home.path('api', 'configuration', 'api.yaml'),
      `host: ['127.0.0.1']\nport: ${String(this.#port)}\n${this.apiYaml}`,
    );
    const control = fileURLToPath(new URL('bin/svc-control', productRoot()));
    const program = new TestProgram(control, ['run', '--init', '--welcome', '--home', this.home.root]);
    this.#program = program;
    let isOver = false;
    void program.ended.then(() => (isOver = true));
    await eventually(
      'the manager runs',
      () => {
        if (isOver) throw new Error(`the manager ended: ${program.stdout}${program.stderr}`);
        return program.stdout.includes('Stop: Ctrl+C');
      },
      START_MS,
    );
    const record = JSON.parse(readFileSync(this.home.path('var', 'run', 'svc-apid.json'), 'utf8')) as {
      addresses: Record<string, { port?: number }>;
    };
    this.#port = Object.values(record.addresses)[0]?.port ?? 0;
    this.#api = new ApiClient(this.home);
  }

  /** Asks the API as its administrator. @throws Error when it does not answer 200 */
  async call(method: string, path: string, body?: string, type = 'application/json'): Promise<TestResponse> {
    const answer = await this.#api?.call(method, path, body === undefined ? {} : { 'content-type': type }, body);
    if (answer?.status !== 200) throw new Error(`${method} ${path}: ${answer?.text ?? 'no answer'}`);
    return answer;
  }

  /** Sends lines of logs as events, at most 100 at a time, and waits until their alerts can be found. */
  async sendEvents(lines: readonly string[], alerts = lines.length): Promise<void> {
    const count = async () => {
      const answer = (await this.call('GET', '/alerts?limit=1')).json() as { data: { total_affected_items: number } };
      return answer.data.total_affected_items;
    };
    const before = await count();
    await this.call('POST', '/events', JSON.stringify({ events: lines }));
    await eventually('the alerts are found', async () => (await count()) >= before + alerts, 30_000);
  }

  /** Makes a user who has one role, such as `readonly`. */
  async addUser({ name, password }: { name: string; password: string }, role: string): Promise<void> {
    type Items = { data: { affected_items: { id: number; name: string }[] } };
    const made = await this.call('POST', '/security/users', JSON.stringify({ username: name, password }));
    const roles = ((await this.call('GET', '/security/roles')).json() as Items).data.affected_items;
    const [user] = (made.json() as Items).data.affected_items;
    const found = roles.find((each) => each.name === role);
    await this.call('POST', `/security/users/${String(user?.id)}/roles?role_ids=${String(found?.id)}`);
  }

  /** Stops the daemons; the home stays. */
  async halt(): Promise<void> {
    this.#program?.signal('SIGINT');
    await this.#program?.ended;
    this.#program = undefined;
  }

  async stop(): Promise<void> {
    await this.halt();
    this.home.remove();
  }
}
