import { expect } from 'chai';
import { EngineDiagnostics } from '../../../../daemons/analysisd/engine-diagnostics.js';
import { MissingLists } from '../../../../daemons/analysisd/missing-lists.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('lists that are missing', () => {
  it('are nothing to talk of when there are none', () => {
    expect(new MissingLists().summary()).to.equal(undefined);
  });

  it('are told in one text, which tells absent files from lists that are not configured', () => {
    const lists = new MissingLists();
    lists.absent('etc/lists/blocked', 'No such file or directory');
    lists.absent('etc/lists/unused', 'No such file or directory');
    lists.ignored('etc/lists/blocked', 100104);
    lists.ignored('etc/lists/none', 100101);
    lists.ignored('etc/lists/none', 100102);
    expect(lists.summary()).to.equal(
      '(7616): Lists are missing, and the rules that use them are ignored: ' +
        "'etc/lists/blocked' is named in <ruleset>, but its file cannot be read: No such file or directory (rule 100104); " +
        "'etc/lists/unused' is named in <ruleset>, but its file cannot be read: No such file or directory (no rule uses it); " +
        "'etc/lists/none' is not named in <ruleset> (rules 100101, 100102).",
    );
  });

  it('are told in few words, however many they are', () => {
    const lists = new MissingLists();
    for (let list = 0; list < 1000; list += 1) {
      for (let rule = 0; rule < 50; rule += 1) lists.ignored(`etc/lists/${String(list)}`, 100_000 + rule);
    }
    expect(lists.summary()).to.match(/100007 and 42 more\); and 980 more lists\.$/);
    expect(lists.summary()?.length).to.be.below(4000);
  });

  it('are one line of the log, and a warning for each rule to whoever asks why', () => {
    const logger = new RecordingLogger();
    const diagnostics = new EngineDiagnostics(logger);
    for (const ruleId of [1, 2]) {
      const text = `(7616): List 'etc/lists/x' could not be loaded. Rule '${String(ruleId)}' will be ignored.`;
      diagnostics.warn(text, { file: 'etc/rules/a.xml', line: ruleId, ruleId, list: 'etc/lists/x' });
    }
    expect(logger.lines).to.deep.equal([]);
    diagnostics.tellMissingLists();
    expect(logger.lines).to.deep.equal([
      "warn: (7616): A list is missing, and the rules that use it are ignored: 'etc/lists/x' is not named in <ruleset> (rules 1, 2).",
    ]);
    expect(diagnostics.warnings).to.have.length(2);
  });
});
