import { expect } from 'chai';
import { PartOrders } from '../../../../daemons/agentd/part-orders.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { commonHandlers } from '../../../../lib/bus/contracts/common.js';
import { syscheckdContract } from '../../../../lib/bus/contracts/syscheckd.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SCANS = { enabled: true, running: false, started: null, ended: null, count: 0 };

describe('orders for svc-syscheckd', () => {
  const home = new TemporaryHome();
  const path = home.socket('svc-syscheckd');
  const logger = new RecordingLogger();
  const syscheckd = new RequestClient({ contract: syscheckdContract, path });
  const orders = new PartOrders({
    part: {
      order: (params, options) => syscheckd.call('order', params, options),
      config: (params, options) => syscheckd.call('config', params, options),
    },
    ...{ daemon: 'svc-syscheckd', prefix: 'SYSCOM', deadlineMs: 5000, logger },
  });
  const taken: string[] = [];
  const sections = new Map([['syscheck', () => ({ syscheck: { disabled: 'no' } })]]);
  const server = new RequestServer<typeof syscheckdContract>({
    contract: syscheckdContract,
    path,
    logger,
    handlers: {
      ...commonHandlers('svc-syscheckd', { stats: () => ({}), sections, reload: () => Promise.resolve([]) }),
      'scan.status': () => ({ fim: { ...SCANS, files: 0 }, rootcheck: SCANS }),
      order: ({ text }) => {
        if (text === 'syscheck off') throw new BusError('off', 'no rootcheck here');
        if (!/^(?:syscheck restart|restart|fim_file )/.test(text)) throw new BusError('unrecognized', 'what is that');
        taken.push(text);
        return {};
      },
    },
  });

  after(async () => {
    syscheckd.close();
    await server.stop();
    home.remove();
  });

  it('are told of by name and counted while it is not there', async () => {
    orders.take('fim_file dbsync no_data {"begin":"/a"}');
    orders.take('syscheck restart');
    await eventually('both failed', () => orders.counters.failed === 2);
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.match(
      /^warn: Order 'fim_file dbsync no_data' did not get to svc-syscheckd: .*svc-syscheckd is not available/,
    );
    expect(await orders.answer('getconfig syscheck')).to.match(/^err .*svc-syscheckd is not available/);
  });

  it('arrive in their order, byte for byte', async () => {
    await server.start();
    const texts = Array.from({ length: 300 }, (_none, index) => `fim_file dbsync no_data ${index} \xff\xc3\xa9 %'"\n`);
    for (const text of texts) orders.take(text);
    await eventually('all are there', () => orders.counters.delivered === 300);
    expect(taken).to.deep.equal(texts);
  });

  it('that are refused are counted apart', async () => {
    orders.take('syscheck dance');
    orders.take('syscheck off');
    await eventually('both are refused', () => orders.counters.refused === 2);
    expect(logger.lines).to.include("warn: svc-syscheckd refused the order 'syscheck dance': what is that");
  });

  it('are dropped and counted when too many wait', async () => {
    const { delivered } = orders.counters;
    for (let index = 0; index < 4100; index += 1) orders.take('restart');
    expect(orders.counters.dropped).to.equal(4);
    const large = `fim_file ${'x'.repeat(60_000)}`;
    await eventually('the others are there', () => orders.counters.delivered === delivered + 4096);
    for (let index = 0; index < 300; index += 1) orders.take(large);
    expect(orders.counters.dropped).to.equal(4 + 300 - Math.floor((16 * 1024 * 1024) / large.length));
    expect(logger.lines.filter((line) => line.includes('dropped: too many wait'))).to.have.length(1);
  });

  it('answer requests in the words of the reference', async () => {
    for (const [text, answer] of [
      ['getconfig syscheck', 'ok {"syscheck":{"disabled":"no"}}'],
      ['getconfig nosuch', 'err Could not get requested section'],
      [`getconfig ${'x'.repeat(100)}`, 'err Could not get requested section'],
      ['getconfig', 'err SYSCOM getconfig needs arguments'],
      ['getconfig ', 'err SYSCOM getconfig needs arguments'],
      ['dance', 'err Unrecognized command'],
      ['', 'err Unrecognized command'],
      ['restart', 'ok '],
    ] as const) {
      expect(await orders.answer(text), text).to.equal(answer);
    }
  });
});
