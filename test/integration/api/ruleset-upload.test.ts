import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { httpRequest, type TestResponse } from '../../support/api/http-request.js';
import { basic } from '../../support/api/test-api.js';
import { daemonsRun } from '../../support/daemon/daemons-run.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const BASE_RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
</group>
`;
const doorRules = (level: number): string => `<group name="door,">
  <rule id="100200" level="${level}">
    <decoded_as>door</decoded_as>
    <list field="user" lookup="match_key">etc/lists/people</list>
    <description>Door opened.</description>
  </rule>
</group>
`;
const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open">
  <parent>door</parent>
  <regex>^opened by (\\S+)$</regex>
  <order>user</order>
</decoder>
`;
const LINE = 'Mar  7 09:15:02 gate doord[1]: opened by ann';

describe('a ruleset made over the API', function () {
  this.timeout(120_000);
  let home: TemporaryHome;
  let programs: TestProgram[];
  let analysisd: TestProgram;
  let producer: EventProducer;
  let port: number;
  let authorization: string;

  beforeEach(async () => {
    home = new TemporaryHome();
    programs = [];
    writeEngineFiles(home, { name: '0010-base', text: '<decoder name="base"><prematch>^base</prematch></decoder>' });
    for (const directory of ['etc/rules', 'etc/decoders', 'api/configuration/security']) {
      mkdirSync(home.path(directory), { recursive: true });
    }
    writeFileSync(home.path('ruleset/rules/0010-base.xml'), BASE_RULES);
    writeFileSync(home.path('etc/lists/people'), 'bob:1\n');
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config>
  <ruleset>
    <rule_dir>ruleset/rules</rule_dir><rule_dir>etc/rules</rule_dir>
    <decoder_dir>ruleset/decoders</decoder_dir><decoder_dir>etc/decoders</decoder_dir>
    <list>etc/lists/people</list>
  </ruleset>
  <alerts><log_alert_level>3</log_alert_level></alerts>
</manager_config>
`,
    );
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer.start();
    analysisd = launch('svc-analysisd');
    await startApid();
  });
  afterEach(async () => {
    await producer.close(0);
    for (const program of programs) {
      program.signal('SIGKILL');
      await program.ended;
    }
    home.remove();
  });

  const launch = (name: string) => {
    const program = new TestProgram(productProgram(name), ['--home', home.root, '-f']);
    programs.push(program);
    return program;
  };
  const startApid = async (): Promise<TestProgram> => {
    const program = launch('svc-apid');
    const addresses = await daemonsRun(
      home,
      new Map([
        ['svc-analysisd', analysisd],
        ['svc-apid', program],
      ]),
    );
    port = addresses.get('svc-apid')?.['api']?.port ?? 0;
    const password = readFileSync(home.path('api/configuration/security/initial-admin-password'), 'utf8').trim();
    const login = await httpRequest({
      port,
      tls: true,
      method: 'POST',
      path: '/security/user/authenticate?raw=true',
      headers: { authorization: basic('admin', password) },
    });
    authorization = `Bearer ${login.text}`;
    return program;
  };
  const call = async (method: string, path: string, body?: string, type = 'application/octet-stream') => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': type }) };
    const answer: TestResponse = await httpRequest({
      port,
      tls: true,
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return answer.json() as ApiList;
  };
  const logtest = async () => {
    const body = JSON.stringify({ event: LINE, log_format: 'syslog', location: 'test' });
    const answer = (await call('PUT', '/logtest', body, 'application/json')) as unknown as {
      data: { output: { rule?: { id: string; level: number } } };
    };
    return answer.data.output.rule;
  };
  /** Resolves when the event is analysed; acknowledged it is before. */
  const sendEvent = async () => {
    await producer.send({
      queue: '1',
      location: '/var/log/door.log',
      message: Buffer.from(LINE),
      receivedAt: Date.now(),
    });
    const client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    await eventually('the event is analysed', async () => {
      const { events } = (await client.call('stats', {})) as { events: { pending: number } };
      return events.pending === 0;
    });
    client.close();
  };
  const alertLevels = (): number[] =>
    existsSync(home.path('logs/alerts/alerts.json'))
      ? readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => (JSON.parse(line) as { rule: { level: number } }).rule.level)
      : [];

  it('is tested, reloaded and in force; one that is broken is refused with its place and the old one stays', async () => {
    expect((await call('PUT', '/decoders/files/door.xml', DECODERS)).message).to.equal(
      'Decoder was successfully uploaded',
    );
    const uploaded = await call('PUT', '/rules/files/door.xml', doorRules(7));
    expect(uploaded.message, JSON.stringify(uploaded)).to.equal('Rule was successfully uploaded');
    expect((await logtest())?.id, 'ann is not in the list').to.not.equal('100200');
    const list = await call('PUT', '/lists/files/people?overwrite=true', 'ann:1\n');
    expect(list.message).to.equal('CDB list file uploaded successfully');
    expect(await logtest()).to.deep.include({ id: '100200', level: 7 });
    await sendEvent();
    expect(alertLevels(), 'not in force yet').to.deep.equal([]);
    const reloaded = await call('PUT', '/manager/analysisd/reload');
    expect(reloaded.data.affected_items).to.deep.equal([
      { name: 'manager', msg: 'Ruleset reload request sent successfully.' },
    ]);
    await sendEvent();
    expect(alertLevels()).to.deep.equal([7]);

    const broken = await call('PUT', '/rules/files/door.xml?overwrite=true', doorRules(20));
    expect(broken.message).to.equal('Could not upload rule');
    expect(broken.data.failed_items[0]?.error.code).to.equal(1113);
    expect(broken.data.failed_items[0]?.error.message).to.match(
      /^XML syntax error: rules_op: Invalid level: 20\. Must be an integer between 0 and 16\. \(etc\/rules\/door\.xml:2\)/,
    );
    expect(readFileSync(home.path('etc/rules/door.xml'), 'utf8')).to.equal(doorRules(7));
    expect(await logtest()).to.deep.include({ id: '100200', level: 7 });

    writeFileSync(home.path('etc/rules/door.xml'), doorRules(20));
    const refused = await call('PUT', '/manager/analysisd/reload');
    expect(refused.data.failed_items[0]?.error.code).to.equal(1914);
    expect(refused.data.failed_items[0]?.error.message).to.match(
      /^Failed to reload ruleset: rules_op: Invalid level: 20\..*\(etc\/rules\/door\.xml:2/,
    );
    await sendEvent();
    expect(alertLevels(), 'the old ruleset stays').to.deep.equal([7, 7]);
    const stats = await call('GET', '/manager/daemons/stats?daemons_list=svc-analysisd');
    expect(stats.data.affected_items[0]).to.have.nested.property('metrics.events.processed', 3);
    expect(stats.data.affected_items[0])
      .to.have.property('timestamp')
      .that.matches(/^20..-.*\+00:00$/);
    const client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    expect((await client.call('ruleset.check', {})).errors).to.have.length.greaterThan(0);
    client.close();
  });

  it('is whole again after kill -9 of svc-apid in the middle of a check', async () => {
    await call('PUT', '/decoders/files/door.xml', DECODERS);
    await call('PUT', '/rules/files/door.xml', doorRules(7));
    const apid = programs[1];
    // The check waits for an engine that is held up, so the new content stays in place meanwhile.
    analysisd.signal('SIGSTOP');
    const cutOff = call('PUT', '/rules/files/door.xml?overwrite=true', doorRules(20)).catch(() => undefined);
    await eventually('the new content is in place', () =>
      readFileSync(home.path('etc/rules/door.xml'), 'utf8').includes('level="20"'),
    );
    apid?.signal('SIGKILL');
    await apid?.ended;
    await cutOff;
    analysisd.signal('SIGCONT');
    await startApid();
    expect(readFileSync(home.path('etc/rules/door.xml'), 'utf8')).to.equal(doorRules(7));
    expect((await call('PUT', '/rules/files/door.xml?overwrite=true', doorRules(9))).error).to.equal(0);
  });
});
