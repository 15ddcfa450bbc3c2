import { hash } from 'node:crypto';
import { expect } from 'chai';
import { parseUname } from '../../../daemons/remoted/link/uname-line.js';
import { parseKeepalive } from '../../../lib/agentlink/keepalive.js';
import { buildMergedFile, groupHash, parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { secureMessageVectors } from '../../support/agentlink/secure-message-vectors.js';

describe('vectors of groups and keepalives', () => {
  const vectors = secureMessageVectors();

  it('hashes every list of groups', () => {
    for (const { groups_csv: list, hash: expected } of vectors.group_hash) {
      expect(groupHash(list.split(','))).to.equal(expected);
    }
  });

  it('takes every merged file apart and builds it again', () => {
    for (const vector of vectors.merged_files) {
      const bytes = Buffer.from(vector.merged_text);
      expect(bytes.length).to.equal(vector.length);
      const header = vector.merged_text.slice(1, vector.merged_text.indexOf('\n'));
      const entries = parseMergedFile(bytes, true);
      expect(entries[0]?.name).to.equal('ar.conf');
      const built = buildMergedFile(header, entries);
      expect(built.equals(bytes), vector.name).to.equal(true);
      expect(hash('md5', built, 'hex')).to.equal(vector.md5);
    }
  });

  it('reads every identity line', () => {
    for (const { line, expected } of vectors.uname_lines) {
      const { uname, version, configSum } = parseKeepalive(`${line}\nx merged.mg\n\n`);
      expect(parseUname(uname ?? '')).to.deep.equal(expected.os);
      expect(version).to.equal(expected.version);
      expect(configSum ?? null).to.equal(expected.config_sum);
    }
  });
});
