import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { consolePages } from '../../../../api/console/console-pages.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('the files of the console', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;
  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
  });
  afterEach(() => home.remove());
  const pages = () => consolePages(logger, pathToFileURL(home.path('tmp/')));
  const write = (text: string) => {
    for (const name of ['index.html', 'index.html.br']) writeFileSync(home.path('tmp', name), text);
  };

  it('stay as they are read at the start', () => {
    write('before');
    const page = pages().get('/console');
    write('after');
    expect(page?.result())
      .to.have.property('body')
      .that.satisfies((body: unknown) => String(body) === 'before');
    expect(logger.lines).to.deep.equal([]);
  });

  it('are none, with a warning, where they are not whole', () => {
    writeFileSync(home.path('tmp/index.html'), 'not packed');
    expect(pages().size).to.equal(0);
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.match(/^warn: The console is off: build the product again.*ENOENT/);
  });
});
