import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ContractFuzzer, findingsText, reportText } from '../../support/api/fuzz/contract-fuzzer.js';
import { GOOD_PASSWORD } from '../../support/api/security-client.js';
import { basic, TEST_PASSWORD, TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { ModulesdServer } from '../../support/modulesd/modulesd-server.js';
import { RemotedServer } from '../../support/remoted/remoted-server.js';

/** Requests in `npm test`; `SVC_FUZZ_RUNS` asks for more, and then says what came of them. */
const RUNS = Number(process.env['SVC_FUZZ_RUNS'] ?? 1500);
const AGENTS = 20;
const RULESET = `<ruleset><rule_dir>etc/rules</rule_dir><decoder_dir>etc/decoders</decoder_dir></ruleset>`;

describe('requests of the whole contract, valid and nearly', function () {
  this.timeout(0);
  let api: TestApi;
  let db: DbServer;
  let remoted: RemotedServer;
  let modulesd: ModulesdServer;

  before(async () => {
    api = new TestApi();
    // To check a configuration costs a process a daemon.
    api.daemons = [];
    const settings = {
      access: { maxLoginAttempts: 1e9, blockSeconds: 1, maxRequestsPerMinute: 0 },
      logs: { level: 'disabled', plain: false, json: false, maxSize: undefined },
      experimentalFeatures: true,
    } as const;
    await api.start(settings);
    furnish(api);
    db = await DbServer.start(api.home, () => api.now);
    await db.groups('web', 'db');
    await db.fill(AGENTS);
    remoted = await RemotedServer.start(api.home);
    remoted.answer = 'ok {"client":{"crypto_method":"aes"}}';
    modulesd = await ModulesdServer.start(api.home, () => api.now);
  });
  after(async () => {
    await modulesd.stop();
    await remoted.stop();
    await api.stop();
    await db.stop();
    await api.remove();
  });

  it('are answered as the contract has it, none with an error that nobody meant, none late', async () => {
    const fuzzer = new ContractFuzzer({
      port: () => api.port,
      tls: false,
      login: () => login(api),
      takeErrors: () => api.logger.lines.splice(0).filter((line) => line.startsWith('error')),
    });
    const report = await fuzzer.run(RUNS);
    if (process.env['SVC_FUZZ_RUNS'] !== undefined) console.log(reportText(report));
    expect(findingsText(report)).to.equal('');
  });
});

/** The fuzz changes passwords, too: between these two. */
async function login(api: TestApi): Promise<{ token: string; basic: string }> {
  const passwords = [TEST_PASSWORD, GOOD_PASSWORD];
  const tries = await Promise.all(
    passwords.map((password) =>
      api.login('admin', password).then(
        (token) => ({ token, basic: basic('admin', password) }),
        () => undefined,
      ),
    ),
  );
  const good = tries.find((one) => one !== undefined);
  if (good === undefined) throw new Error('neither password is taken');
  return good;
}

function furnish({ home }: TestApi): void {
  const write = (path: string, text: string) => writeFileSync(home.path(path), text);
  for (const directory of ['etc/rules', 'etc/decoders', 'etc/lists', 'etc/shared/default', 'etc/shared/web', 'logs']) {
    mkdirSync(home.path(directory), { recursive: true });
  }
  for (const name of ['one', 'two']) {
    write(
      `etc/rules/${name}_rules.xml`,
      `<group name="${name},"><rule id="10000${String(name.length)}" level="3"><match>${name}</match><description>${name}</description></rule></group>`,
    );
    write(
      `etc/decoders/${name}_decoders.xml`,
      `<decoder name="${name}"><program_name>${name}</program_name></decoder>`,
    );
    write(`etc/lists/${name}`, `${name}:1\n`);
  }
  for (const group of ['default', 'web']) write(`etc/shared/${group}/agent.conf`, '<agent_config/>');
  write('etc/manager.conf', `<manager_config>${RULESET}</manager_config>`);
}
